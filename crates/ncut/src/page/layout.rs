//! Nodes of a small graph drawn so that linked ones are near each other: springs and repulsion (Fruchterman and Reingold), the
//! same on every machine.

use std::f64::consts::{PI, TAU};

/// Steps of the layout.
const STEPS: usize = 160;
/// How far nodes move at most in the first step; then less and less.
const FIRST_STEP: f64 = 0.12;
/// Links count by the root of their weight over the mean, and no more than so many ordinary ones.
const MAX_PULL: f64 = 3.0;

/// A place on the plane.
pub(super) type Place = (f64, f64);

/// Places on a circle in the given order, which is a permutation.
pub(super) fn circle(order: &[usize]) -> Vec<Place> {
    let mut places = vec![(0.0, 0.0); order.len()];
    for (step, &node) in order.iter().enumerate() {
        let angle = TAU * step as f64 / order.len() as f64;
        places[node] = (0.5 + 0.4 * libm::cos(angle), 0.5 + 0.4 * libm::sin(angle));
    }
    places
}

/// Places on a spiral in the given order, from the middle: the seeds of a sunflower.
pub(super) fn spiral(order: &[usize]) -> Vec<Place> {
    let turn = PI * (3.0 - 5f64.sqrt());
    let mut places = vec![(0.0, 0.0); order.len()];
    for (step, &node) in order.iter().enumerate() {
        let radius = 0.5 * ((step as f64 + 0.5) / order.len() as f64).sqrt();
        let angle = turn * step as f64;
        places[node] = (0.5 + radius * libm::cos(angle), 0.5 + radius * libm::sin(angle));
    }
    places
}

/// Moves the nodes from where they are, O(nodes^2) a step. Links are pairs of different nodes with a weight above 0.
pub(super) fn spring(places: &mut [Place], links: &[(usize, usize, f64)]) {
    let n_nodes = places.len();
    if n_nodes < 2 {
        return;
    }
    let mean = links.iter().map(|link| link.2).sum::<f64>() / links.len().max(1) as f64;
    let ideal = (1.0 / n_nodes as f64).sqrt();
    let mut moves = vec![(0.0, 0.0); n_nodes];
    for step in 0..STEPS {
        moves.fill((0.0, 0.0));
        for a in 0..n_nodes {
            let (x, y) = places[a];
            let (mut push_x, mut push_y) = (0.0, 0.0);
            for b in a + 1..n_nodes {
                let (dx, dy) = (x - places[b].0, y - places[b].1);
                // Repulsion `ideal^2 / distance` along the line between both.
                let push = ideal * ideal / (dx * dx + dy * dy).max(1e-9);
                push_x += dx * push;
                push_y += dy * push;
                moves[b].0 -= dx * push;
                moves[b].1 -= dy * push;
            }
            moves[a].0 += push_x;
            moves[a].1 += push_y;
        }
        for &(a, b, weight) in links {
            let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
            let pull = (weight / mean).sqrt().min(MAX_PULL) * (dx * dx + dy * dy).sqrt() / ideal;
            moves[a].0 -= dx * pull;
            moves[a].1 -= dy * pull;
            moves[b].0 += dx * pull;
            moves[b].1 += dy * pull;
        }
        let longest = FIRST_STEP * (1.0 - step as f64 / STEPS as f64);
        for (place, step) in places.iter_mut().zip(&mut moves) {
            // What is not linked at all stays near.
            step.0 -= (place.0 - 0.5) * ideal * 2.0;
            step.1 -= (place.1 - 0.5) * ideal * 2.0;
            let length = (step.0 * step.0 + step.1 * step.1).sqrt();
            let part = if length > longest { longest / length } else { 1.0 };
            place.0 += step.0 * part;
            place.1 += step.1 * part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(places: &[Place], a: usize, b: usize) -> f64 {
        ((places[a].0 - places[b].0).powi(2) + (places[a].1 - places[b].1).powi(2)).sqrt()
    }

    #[test]
    fn linked_nodes_are_nearer_than_others() {
        // Two triangles and an edge between them.
        let links: Vec<_> =
            [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)].map(|(a, b)| (a, b, 1.0)).to_vec();
        let mut places = circle(&[0, 3, 1, 4, 2, 5]);
        spring(&mut places, &links);
        assert!(distance(&places, 0, 1) < 0.6 * distance(&places, 0, 4));
        assert!(distance(&places, 4, 5) < 0.6 * distance(&places, 5, 1));
    }

    #[test]
    fn nodes_in_one_place_and_without_links_stay_finite() {
        let mut places = vec![(0.5, 0.5); 4];
        spring(&mut places, &[]);
        assert!(places.iter().all(|place| place.0.is_finite() && place.1.is_finite()));
    }
}
