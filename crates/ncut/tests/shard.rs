//! Shards of a graph beside the whole graph: what they find together is what one process finds, or is allowed.

use std::collections::{HashMap, HashSet};

use ncut::metrics::CutScore;
use ncut::objective::Sums;
use ncut::shard::{
    Aim, CoarseBuilder, Contraction, LabelNews, Numbers, Pieces, Propagation, Refinement, Round, Shard,
    ShardArrays, ShardBuilder,
};
use ncut::synthetic::Planted;
use ncut::{Graph, Label, ObjectiveKind, Weights};

const N_SHARDS: usize = 3;
const ALL: Round = Round { part: 1.0, number: 1, holds_together: false };

/// A graph in shards of equal ranges, its edges given in the order of the graph, the ids with gaps of `step`.
fn shards(graph: &Graph<'_>, step: i64) -> Vec<Shard> {
    let n_nodes = graph.n_nodes();
    let bounds: Vec<u64> = (0..=N_SHARDS).map(|shard| (n_nodes * shard / N_SHARDS) as u64).collect();
    let id = |node: u32| i64::from(node) * step - 7;
    let mut shards: Vec<Shard> = Vec::new();
    for index in 0..N_SHARDS {
        let own = bounds[index] as u32..bounds[index + 1] as u32;
        let (mut rows, mut columns, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (from, to, weight) in graph.edges() {
            for (row, column) in [(from, to), (to, from)].into_iter().take(1 + usize::from(from != to)) {
                if own.contains(&row) {
                    rows.push(id(row));
                    columns.push(id(column));
                    weights.push(weight);
                }
            }
        }
        let span = (id(0), id(n_nodes as u32 - 1));
        let range = (id(own.start), id(own.end) - 1);
        let mut builder = ShardBuilder::new(range, span, rows.len() as u64);
        builder.see(&rows).unwrap();
        builder.see(&columns).unwrap();
        builder.see(&own.clone().map(id).collect::<Vec<_>>()).unwrap();
        let (ids, ghosts) = builder.number();
        assert_eq!(ids, own.clone().map(id).collect::<Vec<_>>());
        builder.count(&rows).unwrap();
        builder.allocate(64);
        builder.fill(&rows, &columns, Some(&weights)).unwrap();
        let ghosts = ghosts.iter().map(|ghost| ((ghost + 7) / step) as u64).collect();
        shards.push(builder.finish(index, bounds.clone(), ghosts).unwrap());
    }
    introduce(&mut shards);
    shards
}

/// Every shard learns which of its nodes are ghosts elsewhere.
fn introduce(shards: &mut [Shard]) {
    for asker in 0..shards.len() {
        let ghosts = shards[asker].arrays().ghosts.clone();
        for owner in 0..shards.len() {
            let first = shards[owner].first();
            let nodes = ghosts.iter().filter(|&&ghost| shards[owner].owner(ghost) == owner);
            let nodes = nodes.map(|ghost| (ghost - first) as u32).collect();
            shards[owner].set_receiver(asker, nodes).unwrap();
        }
    }
}

fn planted(n_nodes: usize, n_clusters: usize, seed: u64) -> Graph<'static> {
    Planted::new(n_nodes, n_clusters).graph(seed).unwrap().graph
}

/// Groups of all shards, and the pieces of these, by label propagation.
fn pieces(shards: &[Shard], max_mass: f64) -> Vec<Vec<u64>> {
    let mut groups: Vec<Propagation> =
        shards.iter().map(|shard| Propagation::new(shard, max_mass, false, 3)).collect();
    let mut rooms = vec![vec![Vec::new(); shards.len()]; shards.len()];
    for _ in 0..4 {
        groups.iter_mut().for_each(Propagation::ask);
        for owner in 0..shards.len() {
            let ask = |(groups, shard): (&Propagation, &Shard)| groups.questions(shard, owner);
            let questions: Vec<Vec<u32>> = groups.iter().zip(shards).map(ask).collect();
            for questions in &questions {
                groups[owner].count_askers(&shards[owner], questions).unwrap();
            }
            for (asker, questions) in questions.iter().enumerate() {
                rooms[asker][owner] = groups[owner].answers(&shards[owner], questions).unwrap();
            }
        }
        for ((groups, shard), rooms) in groups.iter_mut().zip(shards).zip(&rooms) {
            for (owner, rooms) in rooms.iter().enumerate() {
                groups.learn(shard, owner, rooms).unwrap();
            }
            groups.sweep(shard);
        }
        exchange(
            shards,
            &mut groups,
            |groups, shard, to| groups.news(shard, to),
            |groups, shard, from, news| {
                groups.hear(shard, from, &news).unwrap();
            },
        );
    }
    let labels: Vec<&[u32]> = groups.iter().map(Propagation::groups).collect();
    connected(shards, &labels)
}

/// The pieces of labels, by rounds of messages.
fn connected(shards: &[Shard], labels: &[&[u32]]) -> Vec<Vec<u64>> {
    let mut pieces: Vec<Pieces> =
        shards.iter().zip(labels).map(|(shard, labels)| Pieces::new(shard, labels).unwrap()).collect();
    loop {
        let mut n_news = 0;
        let tell = |pieces: &mut Pieces, shard: &Shard, to| {
            let news = pieces.news(shard, to);
            if to + 1 == shard.n_shards() {
                pieces.set_told();
            }
            news
        };
        exchange(shards, &mut pieces, tell, |pieces, shard, from, news| {
            n_news += news.0.len();
            pieces.hear(shard, from, &news.0, &news.1).unwrap();
        });
        if n_news == 0 {
            let all: Vec<Vec<u64>> = pieces.iter().map(Pieces::all).collect();
            for ((pieces, shard), all) in pieces.into_iter().zip(shards).zip(&all) {
                let (names, places) = pieces.into_places(shard);
                assert!(names.is_sorted_by(|one, other| one < other));
                assert!(places.iter().map(|&place| &names[place as usize]).eq(all));
            }
            return all;
        }
    }
}

/// Every shard tells every shard its news; all is told before anything is heard.
fn exchange<T, News>(
    shards: &[Shard],
    states: &mut [T],
    tell: impl Fn(&mut T, &Shard, usize) -> News,
    mut hear: impl FnMut(&mut T, &Shard, usize, News),
) {
    let all = |(state, shard): (&mut T, &Shard)| -> Vec<News> {
        (0..shards.len()).map(|to| tell(state, shard, to)).collect()
    };
    let news: Vec<Vec<News>> = states.iter_mut().zip(shards).map(all).collect();
    for (sender, news) in news.into_iter().enumerate() {
        for (receiver, news) in news.into_iter().enumerate() {
            hear(&mut states[receiver], &shards[receiver], sender, news);
        }
    }
}

#[test]
fn rows_of_shards_are_those_of_the_graph() {
    let graph = Graph::from_edges(
        7,
        [(0, 1, 1.0), (1, 6, 0.3), (6, 1, 0.1), (2, 2, 4.0), (5, 3, 2.0), (3, 5, 1e-3), (0, 4, 7.0)],
    )
    .unwrap();
    // Gaps that a table of bits covers, and gaps that it does not.
    for step in [1, 1 << 40] {
        for shard in shards(&graph, step) {
            for node in 0..shard.n_local() as u32 {
                let number = shard.number(node as usize) as u32;
                assert_eq!(shard.degree(node), graph.degree(number));
                assert_eq!(shard.sums(node).association, graph.self_loop(number));
                let mut row = Vec::new();
                shard.for_each_entry(node, |other, weight| {
                    row.push((shard.number(other as usize) as u32, weight));
                });
                row.sort_by_key(|entry| entry.0);
                let expected: Vec<(u32, f64)> = graph
                    .entries(number)
                    .map(|entry| (graph.columns()[entry], graph.weights().at(entry)))
                    .collect();
                assert_eq!(row, expected);
            }
        }
    }
}

#[test]
fn groups_are_bounded_connected_and_the_same_in_every_shard() {
    let graph = planted(3_000, 30, 1);
    let shards = shards(&graph, 1);
    let max_mass = 600.0;
    let pieces = pieces(&shards, max_mass);
    let mut group_of = vec![u64::MAX; graph.n_nodes()];
    for (shard, pieces) in shards.iter().zip(&pieces) {
        for node in 0..shard.n_local() {
            group_of[shard.number(node) as usize] = pieces[node];
        }
    }
    for (shard, pieces) in shards.iter().zip(&pieces) {
        for known in shard.n_local()..shard.n_known() {
            assert_eq!(pieces[known], group_of[shard.number(known) as usize], "ghosts know their groups");
        }
    }
    let mut masses: HashMap<u64, f64> = HashMap::new();
    for (node, &group) in group_of.iter().enumerate() {
        *masses.entry(group).or_default() += graph.degree(node as u32);
        assert_eq!(group_of[group as usize], group, "a group is named by one of its nodes");
    }
    assert!(masses.len() < 1_000, "{} groups", masses.len());
    assert!(masses.values().all(|&mass| mass <= max_mass));
    // Each group hangs together: its lowest node is reached from all others.
    let mut reached: HashSet<u32> = masses.keys().map(|&group| group as u32).collect();
    let mut queue: Vec<u32> = reached.iter().copied().collect();
    while let Some(node) = queue.pop() {
        graph.for_each_neighbor(node, |other, _| {
            if group_of[node as usize] == group_of[other as usize] && reached.insert(other) {
                queue.push(other);
            }
        });
    }
    assert_eq!(reached.len(), graph.n_nodes());
}

#[test]
fn contraction_in_shards_is_contraction() {
    let graph = planted(2_000, 20, 2);
    let shards = shards(&graph, 1);
    let pieces = pieces(&shards, 500.0);
    let mut names: Vec<u64> = pieces.iter().flatten().copied().collect();
    names.sort_unstable();
    names.dedup();
    let coarse_of = |piece: u64| names.binary_search(&piece).unwrap() as u64;
    let counts = |end: u64| names.partition_point(|&name| name < end) as u64;
    let bounds: Vec<u64> = shards[0].arrays().bounds.iter().map(|&bound| counts(bound)).collect();
    let contractions: Vec<Contraction> = shards
        .iter()
        .zip(&pieces)
        .map(|(shard, pieces)| {
            let groups = pieces.iter().map(|&piece| coarse_of(piece) as u32).collect();
            let coarse: Vec<u64> = (0..names.len() as u64).collect();
            Contraction::new(shard, &coarse, groups).unwrap()
        })
        .collect();
    let mut group_of = vec![0; graph.n_nodes()];
    for (shard, pieces) in shards.iter().zip(&pieces) {
        (0..shard.n_local())
            .for_each(|node| group_of[shard.number(node) as usize] = coarse_of(pieces[node]) as u32);
    }
    let expected = graph.contract(&group_of, names.len()).unwrap();
    for owner in 0..N_SHARDS {
        let mut builder = CoarseBuilder::new(owner, bounds.clone()).unwrap();
        let (start, end) = (bounds[owner], bounds[owner + 1]);
        for (contraction, shard) in contractions.iter().zip(&shards) {
            let (nodes, sizes) = contraction.sizes(shard);
            let own: Vec<usize> = (0..nodes.len()).filter(|&at| (start..end).contains(&nodes[at])).collect();
            let (nodes, sizes): (Vec<u64>, Vec<f64>) =
                own.into_iter().map(|at| (nodes[at], sizes[at])).unzip();
            builder.add_sizes(&nodes, &sizes).unwrap();
        }
        for (from, to) in [(start, (start + end) / 2), ((start + end) / 2, end)] {
            let portions: Vec<_> = contractions
                .iter()
                .zip(&shards)
                .map(|(contraction, shard)| contraction.portion(shard, from, to))
                .collect();
            let portions: Vec<_> =
                portions.iter().map(|rows| (&rows.rows[..], &rows.columns[..], &rows.weights[..])).collect();
            builder.add_rows(to, &portions).unwrap();
        }
        let coarse = builder.finish().unwrap();
        for node in 0..coarse.n_local() as u32 {
            let number = coarse.number(node as usize) as u32;
            let size = group_of.iter().filter(|&&group| group == number).count();
            assert_eq!(coarse.size(node), size as f64);
            assert_eq!(coarse.sums(node).association, expected.self_loop(number));
            let mut row = Vec::new();
            coarse.for_each_entry(node, |other, weight| {
                row.push((coarse.number(other as usize) as u32, weight));
            });
            row.retain(|entry| entry.0 != number);
            row.sort_by_key(|entry| entry.0);
            assert_eq!(row, expected.neighbors(number).collect::<Vec<_>>());
        }
    }
}

#[test]
fn numbers_that_do_not_fit_four_bytes_are_kept() {
    let far = (1 << 32) + 5;
    let bounds = vec![0, 2, 1 << 31, 1 << 32, (1 << 32) + 10];
    let arrays = ShardArrays {
        bounds: bounds.clone(),
        index: 0,
        offsets: vec![0, 2, 3],
        columns: vec![1, 2, 0],
        weights: Weights::Unit,
        sizes: Vec::new(),
        ghosts: vec![far],
    };
    let mut shard = Shard::new(arrays).unwrap();
    shard.set_receiver(3, vec![0]).unwrap();

    let mut groups = Propagation::new(&shard, 10.0, false, 3);
    groups.ask();
    assert_eq!(
        [0, 1, 2, 3].map(|owner| groups.questions(&shard, owner)),
        [vec![0, 1], vec![], vec![], vec![5]]
    );
    groups.learn(&shard, 0, &[0.0, 0.0]).unwrap();
    groups.learn(&shard, 3, &[10.0]).unwrap();
    assert_eq!(groups.sweep(&shard), 2);
    let news = groups.news(&shard, 3);
    assert_eq!((news.positions, news.groups), (vec![0], Numbers::Wide(vec![far])));
    assert_eq!((news.grown, news.added), (vec![5], vec![3.0]));

    let mut pieces = Pieces::new(&shard, &[0, 0, 0]).unwrap();
    pieces.hear(&shard, 3, &[0], &Numbers::Wide(vec![far + 1])).unwrap();
    let (all, names) = (pieces.all(), pieces.news(&shard, 3));
    assert_eq!(all[2], far + 1);
    assert!(matches!(names.1, Numbers::Wide(_)));
    let (names, places) = pieces.into_places(&shard);
    assert_eq!(places.iter().map(|&place| names[place as usize]).collect::<Vec<_>>(), all);

    let mut builder = CoarseBuilder::new(0, bounds).unwrap();
    builder.add_rows(2, &[(&[0, 0, 1], &[far, 1, 0], &[1.0; 3])]).unwrap();
    let coarse = builder.finish().unwrap();
    assert_eq!((coarse.arrays().columns.clone(), coarse.arrays().ghosts.clone()), (vec![1, 2, 0], vec![far]));
}

/// Sums of clusters over all shards.
fn summed(refinements: &mut [Refinement], shards: &[Shard]) -> Vec<(Sums, usize)> {
    let mut total: Vec<(Sums, usize)> = Vec::new();
    for (refinement, shard) in refinements.iter_mut().zip(shards) {
        let sums = refinement.sums(shard);
        total.resize(sums.len(), (Sums::default(), 0));
        for (total, part) in total.iter_mut().zip(sums) {
            total.0.association += part.0.association;
            total.0.volume += part.0.volume;
            total.0.size += part.0.size;
            total.1 += part.1;
        }
    }
    total
}

fn tell(refinements: &mut [Refinement], shards: &[Shard]) {
    let hear = |refinement: &mut Refinement, shard: &Shard, from, news: LabelNews| {
        refinement.hear(shard, from, &news.positions, &news.labels).unwrap();
    };
    exchange(shards, refinements, |refinement, shard, to| refinement.news(shard, to), hear);
}

#[test]
fn sums_are_exact_a_shard_alone_never_loses_and_undo_goes_back() {
    let graph = planted(2_000, 20, 4);
    let shards = shards(&graph, 1);
    let start: Vec<u32> = (0..graph.n_nodes() as u32).map(|node| node % 5).collect();
    for kind in ObjectiveKind::ALL {
        let aim = Aim { kind, resolution: 1.0, volume: graph.volume(), size: graph.n_nodes() as f64 };
        let value = |labels: &[u32]| {
            let labels: Vec<Label> = labels.iter().map(|&label| label as Label).collect();
            let score = CutScore::new(&graph, &labels).unwrap();
            match kind {
                ObjectiveKind::NormalizedCut => score.objective,
                ObjectiveKind::RatioCut => -score.ratio_cut,
                _ => score.modularity,
            }
        };
        let mut refinements: Vec<Refinement> = shards
            .iter()
            .map(|shard| {
                let labels = (0..shard.n_known()).map(|known| start[shard.number(known) as usize]).collect();
                Refinement::new(shard, labels, 5).unwrap()
            })
            .collect();
        let whole = |refinements: &[Refinement]| {
            let mut labels = vec![0; graph.n_nodes()];
            for (refinement, shard) in refinements.iter().zip(&shards) {
                for known in 0..shard.n_known() {
                    let label = refinement.labels()[known];
                    if known < shard.n_local() {
                        labels[shard.number(known) as usize] = label;
                    }
                }
            }
            for (refinement, shard) in refinements.iter().zip(&shards) {
                for known in shard.n_local()..shard.n_known() {
                    assert_eq!(refinement.labels()[known], labels[shard.number(known) as usize]);
                }
            }
            labels
        };
        let mut table = summed(&mut refinements, &shards);
        let mut before = aim.score(&table).0;
        assert!((before - value(&start)).abs() < 1e-9);
        for index in 0..N_SHARDS {
            let n_moves = refinements[index].propose(&shards[index], &aim, &table, 0.0, ALL).unwrap();
            assert!(n_moves > 0);
            tell(&mut refinements, &shards);
            table = summed(&mut refinements, &shards);
            let after = aim.score(&table).0;
            assert!(after > before, "{kind:?}: {before} to {after}");
            assert!((after - value(&whole(&refinements))).abs() < 1e-9);
            before = after;
            refinements.iter_mut().for_each(Refinement::keep);
        }
        let kept = whole(&refinements);
        for (refinement, shard) in refinements.iter_mut().zip(&shards) {
            refinement.propose(shard, &aim, &table, 0.0, ALL).unwrap();
        }
        tell(&mut refinements, &shards);
        assert_ne!(whole(&refinements), kept);
        refinements.iter_mut().for_each(Refinement::undo);
        assert_eq!(whole(&refinements), kept);
    }
}

#[test]
fn the_floor_holds() {
    let graph = planted(600, 6, 5);
    let shards = shards(&graph, 1);
    let aim =
        Aim { kind: ObjectiveKind::NormalizedCut, resolution: 1.0, volume: graph.volume(), size: 600.0 };
    let start: Vec<u32> = (0..600).map(|node| node % 6).collect();
    let labels =
        |shard: &Shard| (0..shard.n_known()).map(|known| start[shard.number(known) as usize]).collect();
    let mut refinements: Vec<Refinement> =
        shards.iter().map(|shard| Refinement::new(shard, labels(shard), 6).unwrap()).collect();
    let floor = 0.9 * graph.volume() / 6.0;
    for index in 0..N_SHARDS {
        let table = summed(&mut refinements, &shards);
        refinements[index].propose(&shards[index], &aim, &table, floor, ALL).unwrap();
        tell(&mut refinements, &shards);
        refinements.iter_mut().for_each(Refinement::keep);
    }
    assert!(summed(&mut refinements, &shards).iter().all(|cluster| cluster.0.volume >= floor));
}

#[test]
fn a_shard_alone_can_keep_clusters_connected() {
    // A grid in stripes that cross the ranges of the shards.
    let side = 24u32;
    let mut edges = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let node = row * side + column;
            if column + 1 < side {
                edges.push((node, node + 1, 1.0 + f64::from(node % 3)));
            }
            if row + 1 < side {
                edges.push((node, node + side, 1.0 + f64::from(node % 5)));
            }
        }
    }
    let n_nodes = (side * side) as usize;
    let graph = Graph::from_edges(n_nodes, edges).unwrap();
    let shards = shards(&graph, 1);
    let aim = Aim {
        kind: ObjectiveKind::NormalizedCut,
        resolution: 1.0,
        volume: graph.volume(),
        size: n_nodes as f64,
    };
    let start = |number: u64| (number as u32 % side) / 6;
    let labels = |shard: &Shard| (0..shard.n_known()).map(|known| start(shard.number(known))).collect();
    let mut refinements: Vec<Refinement> =
        shards.iter().map(|shard| Refinement::new(shard, labels(shard), 4).unwrap()).collect();
    let mut n_moves = 0;
    for _ in 0..4 {
        for index in 0..N_SHARDS {
            let table = summed(&mut refinements, &shards);
            let round = Round { holds_together: true, ..ALL };
            n_moves += refinements[index].propose(&shards[index], &aim, &table, 0.0, round).unwrap();
            tell(&mut refinements, &shards);
            refinements.iter_mut().for_each(Refinement::keep);
            let labels: Vec<&[u32]> = refinements.iter().map(Refinement::labels).collect();
            let pieces = connected(&shards, &labels);
            let local = pieces.iter().zip(&shards).flat_map(|(pieces, shard)| &pieces[..shard.n_local()]);
            assert_eq!(local.collect::<HashSet<_>>().len(), 4);
        }
    }
    assert!(n_moves > 0);
}
