//! Values as JSON that may stand in a script of a page, and arrays of numbers as base64.

use std::fmt::Write as _;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl Value {
    pub(super) fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// A number of which six leading digits matter.
    pub(super) fn short(number: f64) -> Self {
        Self::Number(format!("{number:.5e}").parse().unwrap_or(number))
    }

    /// Adds the value to a text that may stand between the tags of a script: whatever could end it is escaped.
    pub(super) fn write(&self, to: &mut String) {
        match self {
            Self::Null => to.push_str("null"),
            Self::Number(number) if number.is_finite() => {
                let _ = write!(to, "{number}");
            }
            Self::Number(_) => to.push_str("null"),
            Self::Text(text) => write_text(text, to),
            Self::List(items) => {
                to.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        to.push(',');
                    }
                    item.write(to);
                }
                to.push(']');
            }
            Self::Object(fields) => {
                to.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        to.push(',');
                    }
                    write_text(name, to);
                    to.push(':');
                    value.write(to);
                }
                to.push('}');
            }
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(items)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// `<` could begin the end of the script, the two separators end a line in old readers.
fn write_text(text: &str, to: &mut String) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{0}'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(to, "\\u{:04x}", u32::from(letter));
            }
            letter => to.push(letter),
        }
    }
    to.push('"');
}

/// Bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for place in 0..4 {
            let letter = LETTERS[((bits >> (18 - 6 * place)) & 63) as usize];
            text.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

/// Numbers of two bytes, the lower first, as base64.
pub(super) fn packed_u16(numbers: impl IntoIterator<Item = u16>) -> Value {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u16::to_le_bytes).collect();
    base64(&bytes).into()
}

/// Numbers of four bytes, the lowest first, as base64.
pub(super) fn packed_u32(numbers: impl IntoIterator<Item = u32>) -> Value {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    base64(&bytes).into()
}

/// A text that may stand in a page.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn no_text_can_end_the_script_it_stands_in() {
        let mut json = String::new();
        Value::from("</script><!-- \"a\\b\" & \u{2028}").write(&mut json);
        assert_eq!(json, "\"\\u003c/script\\u003e\\u003c!-- \\\"a\\\\b\\\" \\u0026 \\u2028\"");
    }

    #[test]
    fn numbers_that_json_lacks_are_null() {
        let mut json = String::new();
        Value::list([1.0, 0.25, f64::NAN, 1e21]).write(&mut json);
        assert_eq!(json, "[1,0.25,null,1000000000000000000000]");
    }
}
