use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = ncut::io::read_graph(args[1].as_ref(), &Default::default(), &ncut::Clock::new()).unwrap();
    let largest = file.graph.components().largest();
    let graph = file.graph.induced(&largest).unwrap();
    let starts: usize = args[2].parse().unwrap();
    let failures: usize = args[3].parse().unwrap();
    for resolution in args[4].split(',') {
        let g: f64 = resolution.parse().unwrap();
        for seed in 0..args[5].parse::<u64>().unwrap() {
            let t = Instant::now();
            let (_, count, q) = ncut::communities::experiment(&graph, g, starts, failures, seed).unwrap();
            println!("{} g {g} seed {seed}: {count} communities, {q:.6}, {:.3} s", args[1].rsplit('/').next().unwrap(), t.elapsed().as_secs_f64());
        }
    }
}
