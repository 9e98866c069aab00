//! Lines of a table, taken apart by any thread: plain numbers by a short cut, everything else by the rules of
//! [`Fields`].

use super::fields::{COMMENTS, Fields, Layout, after_line, after_separator};
use super::numbers::decimal;
use super::text::{as_text, split_first_line};
use crate::points::coordinate_problem;

/// The rows of some lines, up to the first that is wrong.
pub(super) struct TableChunk {
    /// Row after row.
    pub(super) values: Vec<f64>,
    /// The first line that is no row, counted from 1, and why.
    pub(super) problem: Option<(u64, String)>,
}

impl TableChunk {
    pub(super) fn parse(lines: &[u8], layout: Layout) -> Self {
        // A number is half a dozen letters, more often than not.
        let mut values = Vec::with_capacity(lines.len() / 6);
        let problem = read_rows(lines, layout, &mut values).err();
        Self { values, problem }
    }
}

/// Adds all rows, or those before the first line that is wrong: its number, and why.
fn read_rows(lines: &[u8], layout: Layout, values: &mut Vec<f64>) -> Result<(), (u64, String)> {
    let mut fields = Fields::default();
    let mut rest = lines;
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let n_before = values.len();
        if let Some(next) = plain_row(rest, layout, values) {
            rest = next;
            continue;
        }
        values.truncate(n_before);
        let (line, next) = split_first_line(rest);
        add_line(line, layout, &mut fields, values).map_err(|problem| (number, problem))?;
        rest = next;
    }
    Ok(())
}

fn add_line(line: &[u8], layout: Layout, fields: &mut Fields, values: &mut Vec<f64>) -> Result<(), String> {
    let line = as_text(line)?.trim();
    if line.is_empty() || line.starts_with(COMMENTS) {
        return Ok(());
    }
    fields.split(line, layout.cut)?;
    parse_row(fields, layout, values)
}

/// Adds the numbers of a row.
pub(super) fn parse_row(fields: &Fields, layout: Layout, values: &mut Vec<f64>) -> Result<(), String> {
    let n_columns = layout.n_columns;
    if fields.len() != n_columns {
        return Err(format!("this line has {} columns, the first has {n_columns}", fields.len()));
    }
    for column in 0..n_columns {
        values.push(parse_cell(fields.get(column), column, n_columns)?);
    }
    Ok(())
}

/// What stands for a value that is missing.
const MISSING: [&str; 8] = ["", "NA", "N/A", "na", "?", "null", "None", "-"];

/// The number in a cell that is to be a coordinate.
pub(super) fn parse_cell(text: &str, column: usize, n_columns: usize) -> Result<f64, String> {
    let column = column + 1;
    match text.parse::<f64>() {
        Ok(value) => match coordinate_problem(value, n_columns) {
            None => Ok(value),
            Some(problem) => Err(format!("column {column} is {text}; {problem}")),
        },
        Err(_) if text.is_empty() => {
            Err(format!("column {column} is empty; fill in or remove such points first"))
        }
        Err(_) if MISSING.contains(&text) => {
            Err(format!("column {column} is `{text}`, a missing value; fill in or remove such points first"))
        }
        Err(_) => Err(format!("column {column} is `{text}`, which is not a number{}", remedy(text))),
    }
}

fn remedy(text: &str) -> &'static str {
    if text.replacen(',', ".", 1).parse::<f64>().is_ok() {
        "; write decimals with a point (0.5)"
    } else if text.contains(char::is_alphabetic) {
        "; --id-column and --truth-column name columns of text"
    } else {
        ""
    }
}

/// Refuses a header that leaves a column of numbers without a name.
pub(super) fn check_named(names: &[&str]) -> Result<(), String> {
    match names.iter().position(|name| name.is_empty()) {
        None => Ok(()),
        Some(_) if names.iter().all(|name| name.is_empty()) => Ok(()),
        Some(column) => {
            let column = column + 1;
            Err(format!(
                "column {column} has no name in the header: row numbers, as pandas writes them? --id-column {column} takes it \
                 for ids; else give it a name, or write the table without it (index=False)"
            ))
        }
    }
}

/// The short cut: numbers with nothing unusual around them. Returns the lines that follow; `None` leaves the line to the
/// rules.
fn plain_row<'t>(mut text: &'t [u8], layout: Layout, values: &mut Vec<f64>) -> Option<&'t [u8]> {
    for column in 0..layout.n_columns {
        if column > 0 {
            text = after_separator(text, layout.cut)?;
        }
        while let [b' ', next @ ..] = text {
            text = next;
        }
        let (value, rest) = plain_number(text)?;
        if coordinate_problem(value, layout.n_columns).is_some() {
            return None;
        }
        values.push(value);
        text = rest;
    }
    after_line(text, layout.cut)
}

/// A number, to the last bit what `str::parse` makes of it, and what follows.
#[inline]
fn plain_number(text: &[u8]) -> Option<(f64, &[u8])> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    if let Some((value, rest)) = decimal(unsigned)
        && !matches!(rest, [b'e' | b'E', ..])
    {
        return Some((if unsigned.len() < text.len() { -value } else { value }, rest));
    }
    // An exponent, or more digits than fit into a float.
    let is_letter = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let n_letters = text.iter().position(|byte| !is_letter(byte)).unwrap_or(text.len());
    let (number, rest) = text.split_at(n_letters);
    Some((str::from_utf8(number).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::super::fields::Cut;
    use super::*;
    use crate::random::Random;

    /// What a cell of a row of two is read as.
    fn read(cell: &str) -> Option<f64> {
        let layout = Layout { cut: Cut::At(','), n_columns: 2 };
        let chunk = TableChunk::parse(format!("{cell},7\n").as_bytes(), layout);
        chunk.problem.is_none().then(|| chunk.values[0])
    }

    #[test]
    fn numbers_are_to_the_last_bit_what_the_standard_library_reads() {
        let mut cells: Vec<String> = [
            "0",
            "-0",
            "+0",
            "-0.0",
            "1",
            "-1",
            "+1",
            "1.",
            ".5",
            "-.5",
            "0.1",
            "1e5",
            "1E5",
            "1e-5",
            "-1.5e+3",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993.0",
            "0.9007199254740993",
            "1234567890123456789",
            "12345678901234567890",
            "0.1234567890123456789",
            "0.12345678901234567891234567890",
            "00000000000000000000001",
            "0.00000000000000000000001",
            "5e-324",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "1e149",
            "1.7976931348623157e3",
            "123456789012345678901234567890",
            "0.3",
            "2.675",
            "1e-400",
            "8.5",
            "8388608.5",
        ]
        .map(String::from)
        .to_vec();
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let bits = u64::from(random.below(u32::MAX)) << 32 | u64::from(random.below(u32::MAX));
            let any = f64::from_bits(bits);
            let near = (random.uniform() - 0.5) * 1e3;
            let n_digits = random.below(20) as usize;
            cells.extend([format!("{any:e}"), near.to_string(), format!("{near:.n_digits$}")]);
            if any.abs() < 1e30 {
                cells.push(any.to_string());
            }
        }
        for cell in cells {
            let expected = cell.parse::<f64>().ok().filter(|&value| coordinate_problem(value, 2).is_none());
            assert_eq!(read(&cell).map(f64::to_bits), expected.map(f64::to_bits), "{cell}");
        }
    }

    #[test]
    fn cells_that_are_no_numbers_are_left_to_the_rules() {
        for cell in
            ["", "-", "+-1", "--1", "1-", "1 2", "1e", "e5", "1.2.3", "0x1", "1_000", "nan", "inf", "1e200"]
        {
            assert_eq!(read(cell), None, "{cell}");
        }
        for (cell, value) in [("  1", 1.0), ("1  ", 1.0), ("\"1\"", 1.0), ("\t1", 1.0)] {
            assert_eq!(read(cell), Some(value), "{cell}");
        }
    }

    #[test]
    fn the_first_line_that_is_no_row_is_named_and_the_rows_before_it_are_kept() {
        let layout = Layout { cut: Cut::WhiteSpace, n_columns: 2 };
        let chunk = TableChunk::parse(b"1 2\n\n# none\n 3\t-4 \r\n5 6 7\n8 9", layout);
        assert_eq!(chunk.values, [1.0, 2.0, 3.0, -4.0]);
        assert_eq!(chunk.problem, Some((5, "this line has 3 columns, the first has 2".to_string())));
    }
}
