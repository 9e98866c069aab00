//! Files as people have them: columns, pipes, formats of other programs, ids and classes, and the report in JSON.

mod common;

use common::{Bench, Ran, TRIANGLES};
use serde_json::Value;

const NODES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn clusters_of_triangles(bench: &Bench, file: &str) {
    let labels = bench.read(file);
    for node in NODES {
        assert!(labels.contains(node), "{labels}");
    }
}

fn done(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran
}

fn refused(ran: &Ran, problem: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains(problem), "{}", ran.stderr);
}

#[test]
fn columns_are_read_by_their_names_and_the_others_are_told() {
    let bench = Bench::new()
        .with("g.csv", "id,weight,source,target\n0,1,7,8\n1,2,8,9\n2,1,7,9\n")
        .with("bad.csv", "x,y,z\n1,2,3\n");
    let ran = done(bench.run("cluster g.csv -k 1"));
    assert!(ran.stdout.contains("g.csv: column `id` is not read"), "{}", ran.stdout);
    assert!(ran.stdout.contains("3 nodes, 3 edges"), "{}", ran.stdout);
    refused(
        &bench.run("cluster bad.csv -k 1"),
        "bad.csv, line 1: the header does not tell which columns are the ends",
    );
    assert!(done(bench.run("cluster bad.csv -k 1 --columns x,y,z")).stdout.contains("2 nodes, 1 edge"));
    assert!(
        done(bench.run("cluster bad.csv -k 1 --columns 1,3 --header yes"))
            .stdout
            .contains("column `y` is not read")
    );
    assert_eq!(bench.run("cluster bad.csv -k 1 --columns 1").code, Some(2));
}

#[cfg(unix)]
#[test]
fn graphs_labels_and_tables_come_from_pipes() {
    let table: String = (0..40).map(|row| format!("{row},{}\n", row % 2 * 100)).collect();
    let bench = Bench::new().with("g.txt", TRIANGLES).with("t.csv", table);
    let from_file = done(bench.run("cluster g.txt -k 2 -o - --quiet")).stdout;
    let piped = done(bench.shell("cat g.txt | ncut cluster - --format txt -k 2 -o - --quiet"));
    assert_eq!(piped.stdout, from_file);
    done(bench.run("cluster g.txt -k 2 -o l.txt --quiet"));
    assert!(done(bench.shell("cat l.txt | ncut score g.txt -")).stdout.contains("2 clusters"));
    assert!(done(bench.shell("cat t.csv | ncut points - --format csv -k 2")).stdout.contains("40 points"));
    refused(&bench.shell("cat g.txt | ncut cluster - -k 2"), "--format NAME tells another");
    done(bench.run("convert g.txt g.npz --quiet"));
    assert!(done(bench.shell("cat g.npz | ncut cluster - --format npz -k 2")).stdout.contains("6 nodes"));
    assert_eq!(bench.shell("cat g.txt | ncut score - - --format txt").code, Some(2));
}

#[test]
fn labels_go_with_the_graph_or_are_refused_by_their_ending() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    for name in ["o.graphml", "o.gexf", "o.gml", "o.json", "o.csv"] {
        done(bench.run(&format!("cluster g.txt -k 2 -o {name}")));
        clusters_of_triangles(&bench, name);
        let ran = done(bench.run(&format!("score g.txt {name}")));
        assert!(ran.stdout.contains("2 clusters, N-Cut 0.0328"), "{name}: {}", ran.stdout);
    }
    assert!(done(bench.run("cluster o.graphml -k 2 --truth o.gexf")).stdout.contains("accuracy 1.0000"));
    refused(
        &bench.run("cluster g.txt -k 2 -o o.docx"),
        "o.docx: labels cannot be written as this kind of file",
    );
    assert!(!bench.files().contains(&"o.docx".to_owned()));
}

#[test]
fn convert_keeps_ids_or_says_that_it_cannot() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    for (name, keeps) in [
        ("o.npz", false),
        ("o.mtx", false),
        ("o.csv", true),
        ("o.graphml", true),
        ("o.gexf", true),
        ("o.gml", true),
        ("o.net", true),
        ("o.json", true),
        ("o.ncut", true),
    ] {
        let ran = done(bench.run(&format!("convert g.txt {name}")));
        assert_eq!(ran.stdout.contains("keeps no ids"), !keeps, "{name}: {}", ran.stdout);
        let back = done(bench.run(&format!("cluster {name} -k 2 -o -")));
        assert_eq!(back.stdout.contains('a'), keeps, "{name}: {}", back.stdout);
        assert!(back.stderr.contains("6 nodes, 7 edges"), "{name}: {}", back.stderr);
    }
}

#[test]
fn known_classes_may_be_names() {
    let bench = Bench::new().with("g.txt", TRIANGLES).with("t.txt", "a x\nb x\nc x\nd y\ne y\nf y\n");
    assert!(done(bench.run("cluster g.txt -k 2 --truth t.txt")).stdout.contains("accuracy 1.0000"));
    refused(&bench.run("score g.txt t.txt"), "t.txt, line 1: `x` is no label");
}

#[test]
fn tables_have_ids_and_classes_beside_their_features() {
    let rows: String = (0..40)
        .map(|row| format!("p{row},{},{},{}\n", row % 2 * 1000 + row, row % 2, ["x", "y"][row % 2]))
        .collect();
    let bench = Bench::new()
        .with("t.csv", format!("name,width,height,kind\n{rows}"))
        .with("twice.csv", "name,a,b\nx,1,2\nx,3,4\n");
    let ran =
        done(bench.run("points t.csv -k 2 --id-column name --truth-column kind --standardize -o l.csv"));
    assert!(ran.stdout.contains("40 points with 2 features"), "{}", ran.stdout);
    assert!(ran.stdout.contains("against column kind: accuracy 1.0000"), "{}", ran.stdout);
    assert!(bench.read("l.csv").starts_with("p0,0\np1,1\n"));
    refused(&bench.run("points t.csv -k 2"), "which is not a number");
    refused(&bench.run("points t.csv -k 2 --id-column no"), "there is no column `no` in the header");
    refused(&bench.run("points twice.csv -k 1 --id-column name"), "line 3: the id `x` is there twice");
}

#[test]
fn a_drawing_is_what_its_name_says() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    refused(&bench.run("choose g.txt --to 3 -o c.png"), "c.png: the drawing is SVG");
    assert!(!bench.files().contains(&"c.png".to_owned()));
    done(bench.run("choose g.txt --to 3 -o c.svg"));
    assert!(bench.read("c.svg").starts_with("<svg"));
}

#[test]
fn a_number_of_clusters_that_is_none_mentions_auto() {
    let ran = Bench::new().run("cluster g.txt -k abc");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("a whole number, or `auto`"), "{}", ran.stderr);
}

/// Newcomers, 15.
#[test]
fn ranges_are_named_as_in_python_too_and_one_is_no_plural() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    let by_name = |call: &str| done(bench.run(call)).stdout;
    assert_eq!(by_name("choose g.txt --least 2 --most 4"), by_name("choose g.txt --from 2 --to 4"));
    assert!(by_name("cluster g.txt -k 1").contains("\n1 cluster, N-Cut 0.0000"));
    assert!(by_name("choose g.txt --to 3").contains("suggested: 2 clusters"));
}

#[test]
fn every_report_keeps_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../docs/report.schema.json")).unwrap();
    let table: String = (0..40).map(|row| format!("{row},{}\n", row % 2 * 100)).collect();
    let bench = Bench::new()
        .with("g.txt", TRIANGLES)
        .with("t.csv", table)
        .with("l.txt", "a 0\nb 0\nc 0\nd 1\ne 1\nf 1\n");
    for (command, arguments) in [
        ("cluster", "cluster g.txt -k 2 --bound --truth l.txt"),
        ("cluster", "cluster g.txt -k auto"),
        ("cluster", "cluster g.txt --objective modularity"),
        ("points", "points t.csv -k 2"),
        ("score", "score g.txt l.txt --truth l.txt"),
        ("choose", "choose g.txt --to 3"),
        ("compare", "compare g.txt -k 2"),
        ("update", "update l.txt g.txt"),
    ] {
        let report = done(bench.run(&format!("{arguments} --json -"))).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(
            (&report["command"], &report["schema_version"]),
            (&command.into(), &1.into()),
            "{arguments}"
        );
        assert_eq!(report["input"], if command == "points" { "t.csv" } else { "g.txt" });
        if let Err(problem) = check(&schema, &report, "") {
            panic!("{arguments}: {problem}");
        }
    }
    for (name, value) in
        [("schema_version", Value::from(2)), ("n_nodes", "x".into()), ("clusters", Value::from(1))]
    {
        let report = done(bench.run("cluster g.txt -k 2 --json -")).stdout;
        let mut report: Value = serde_json::from_str(&report).unwrap();
        report[name] = value;
        assert!(check(&schema, &report, "").is_err(), "the check sees a wrong {name}");
    }
}

/// What a value does not keep of a schema, of the words that ours is written in.
fn check(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema knows a type {other}"),
    };
    let ensure =
        |holds: bool, problem: &str| if holds { Ok(()) } else { Err(format!("{place}: {problem}: {value}")) };
    ensure(kinds.is_empty() || kinds.iter().any(|kind| is(kind)), "wrong type")?;
    ensure(schema.get("const").is_none_or(|wanted| wanted == value), "another value")?;
    ensure(schema["enum"].as_array().is_none_or(|known| known.contains(value)), "an unknown value")?;
    let least = schema["minimum"].as_f64();
    ensure(least.is_none_or(|least| value.as_f64().is_none_or(|number| number >= least)), "too small")?;
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure(value.get(name).is_some(), &format!("{name} is missing"))?;
    }
    for (name, entry) in value.as_object().into_iter().flatten() {
        let part = schema["properties"].get(name).or(schema.get("additionalProperties"));
        part.map_or(Ok(()), |part| check(part, entry, &format!("{place}/{name}")))?;
    }
    for item in value.as_array().into_iter().flatten() {
        schema.get("items").map_or(Ok(()), |items| check(items, item, &format!("{place}[]")))?;
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        if check(&part["if"], value, place).is_ok() {
            check(&part["then"], value, place)?;
        }
    }
    Ok(())
}

#[test]
fn a_first_edge_that_no_other_edge_touches_is_told() {
    let bench = Bench::new().with("g.csv", "lender,debtor\na,b\nb,c\nc,a\nd,e\ne,f\nf,d\nc,d\n");
    let ran = done(bench.run("cluster g.csv -k 2"));
    assert!(ran.stdout.contains(
        "the first edge, `lender` to `debtor`, names nodes that no other edge names (--header yes"
    ));
    assert!(!done(bench.run("cluster g.csv -k 2 --header yes")).stdout.contains("first edge"));
}

#[test]
fn settings_are_called_as_they_are_typed() {
    let bench = Bench::new().with("g.txt", TRIANGLES);
    for (options, problem) in [
        ("-k 2 --min-share 2", "--min-share is 2"),
        ("-k 2 --max-share 0.5", "--max-share is 0.5"),
        ("-k auto --objective modularity", "for as many communities as there are give no number at all"),
    ] {
        refused(&bench.run(&format!("cluster g.txt {options}")), problem);
    }
    let bench = bench.with("d.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 1\n");
    refused(&bench.run("cluster d.mtx -k 2"), "(--symmetrize average or max)");
}

#[test]
fn tables_that_may_be_misread_are_refused_with_the_cure() {
    let bench = Bench::new()
        .with("comma.csv", "name;sl;sw\ns0;5,1;3\ns1;4,9;3\ns2;9,1;4\n")
        .with("blank.csv", "id x\nq 1,5\nw 2,5\ne 9,5\n")
        .with("index.csv", ",name,x,y\n0,a,1,2\n1,b,3,4\n2,c,9,9\n")
        .with("plain.csv", ",x,y\n0,1,2\n1,3,4\n2,9,9\n")
        .with("missing.csv", "x,y\n1,NA\n3,4\n9,9\n")
        .with("empty.csv", "name,x,y\na,1,\nb,3,4\nc,9,9\n");
    for (call, problem) in [
        (
            "comma.csv -k 2 --id-column name",
            "line 2: column 2 is `5,1`, which is not a number; write decimals with a point",
        ),
        (
            "blank.csv -k 2 --id-column id",
            "line 2: column 2 is `1,5`, which is not a number; write decimals with a point",
        ),
        ("index.csv -k 2 --id-column name", "column 1 has no name in the header"),
        ("plain.csv -k 2", "column 1 has no name in the header"),
        ("missing.csv -k 2", "column 2 is `NA`, a missing value"),
        ("empty.csv -k 2 --id-column name", "column 3 is empty; fill in or remove"),
    ] {
        refused(&bench.run(&format!("points {call}")), problem);
    }
    assert!(
        done(bench.run("points plain.csv -k 2 --id-column 1")).stdout.contains("3 points with 2 features")
    );
}
