//! Comparison of edited and shown cells, which tolerates what spreadsheets do to cells.

/// The relation of an edited cell to the shown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It has the same value.
    Same,
    /// It is a value that a spreadsheet mangled.
    Spoiled,
    /// It has another value.
    Different,
}

/// Spreadsheets show their largest number instead of larger ones.
const OVERFLOW: f64 = 1.797e308;

/// Strips the optional `0x` from an id such as `0x06E27239`. Leaves any other text
/// unchanged.
pub(super) fn bare(text: &str) -> &str {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    digits.filter(|digits| is_id(digits)).unwrap_or(text)
}

/// Returns true if a text may be a hexadecimal id.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether two lists have the same ids and names.
fn is_same_list(shown: &str, edited: &str) -> bool {
    const BETWEEN: [char; 2] = [' ', ';'];
    let edited = edited.split(BETWEEN).map(bare);
    shown.contains(BETWEEN) && shown.split(BETWEEN).map(bare).eq(edited)
}

/// Compares an edited cell with the shown one.
pub(super) fn compare(shown: &str, edited: &str) -> Likeness {
    let (shown, edited) = (bare(shown), bare(edited));
    if shown == edited || is_same_list(shown, edited) {
        return Likeness::Same;
    }
    if is_id(shown) && shown.eq_ignore_ascii_case(edited) {
        return Likeness::Same;
    }
    if let (Some(old), Some(new)) = (Decimal::of(shown), Decimal::of(edited)) {
        return old.compare(&new);
    }
    let is_flag = ["true", "false"].contains(&shown);
    if is_flag && shown.eq_ignore_ascii_case(edited) {
        Likeness::Same
    } else if is_failed_formula(shown, edited) || is_short_date(shown, edited) {
        Likeness::Spoiled
    } else {
        Likeness::Different
    }
}

/// Returns whether a text is a number in decimal digits.
pub(super) fn is_number(text: &str) -> bool {
    Decimal::of(text).is_some()
}

/// Normalizes a cell: equal for all cells that are read as the same number, or differ
/// only in case.
pub(super) fn loose(text: &str) -> String {
    let text = bare(text);
    match Decimal::of(text) {
        Some(decimal) => decimal.value.min(OVERFLOW).to_string(),
        None => text.to_lowercase(),
    }
}

/// A text that reads as a number in decimal digits.
struct Decimal<'a> {
    text: &'a str,
    value: f64,
}

impl<'a> Decimal<'a> {
    /// Reads a number with a decimal point or comma, and an optional exponent.
    fn of(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.,eE".contains(byte);
        if text.len() > 400 || !text.as_bytes().iter().all(is_part) {
            return None;
        }
        let value = match text.contains(',') {
            true => text.replacen(',', ".", 1).parse(),
            false => text.parse(),
        };
        Some(Self {
            text,
            value: value.ok()?,
        })
    }

    fn compare(&self, new: &Self) -> Likeness {
        if is_id(self.text) && is_id(new.text) || self.exponent().is_some() && !new.is_scientific()
        {
            // Different ids can read as the same number: 1E000001 and 00000010.
            let is_same = self.text.eq_ignore_ascii_case(new.text);
            return match is_same {
                true => Likeness::Same,
                false if new.exponent().is_none() && self.value == new.value => Likeness::Spoiled,
                false => Likeness::Different,
            };
        }
        if self.value == new.value {
            return match self.is_spoiled_as_number() {
                true => Likeness::Spoiled,
                false => Likeness::Same,
            };
        }
        let is_overflow = self.value.is_infinite() && new.value >= OVERFLOW;
        match is_overflow || new.is_rounded_from(self.value) {
            true => Likeness::Spoiled,
            false => Likeness::Different,
        }
    }

    /// Returns the digits before the exponent, and the signed exponent.
    fn exponent(&self) -> Option<(&'a str, &'a str)> {
        self.text.split_once(['e', 'E'])
    }

    /// Returns true if it has a signed exponent, as programs write it.
    fn is_scientific(&self) -> bool {
        self.exponent()
            .is_some_and(|(_, exponent)| exponent.starts_with(['+', '-']))
    }

    /// Returns true if a conversion to a number loses some of its characters.
    fn is_spoiled_as_number(&self) -> bool {
        let digits = self.text.trim_start_matches(['+', '-']).as_bytes();
        self.exponent().is_some()
            || digits[0] == b'0' && digits.get(1).is_some_and(u8::is_ascii_digit)
    }

    /// Returns true if it is the other value rounded to its number of digits.
    fn is_rounded_from(&self, value: f64) -> bool {
        let Some((digits, _)) = self.exponent().filter(|_| self.is_scientific()) else {
            return false;
        };
        let decimals = digits
            .split_once(['.', ','])
            .map_or("", |(_, decimals)| decimals);
        let rounded = format!("{value:.0$e}", decimals.len());
        rounded.parse() == Ok(self.value)
    }
}

/// Returns true if a spreadsheet took a text for a formula.
fn is_failed_formula(shown: &str, edited: &str) -> bool {
    shown.starts_with(['=', '+', '-', '@'])
        && (edited.starts_with('#') || edited.starts_with("Err:"))
}

/// Returns true if a spreadsheet took a text for a date and shortened its year.
fn is_short_date(shown: &str, edited: &str) -> bool {
    let (Some((old_day, old_year)), Some((new_day, new_year))) =
        (shown.rsplit_once('/'), edited.rsplit_once('/'))
    else {
        return false;
    };
    let is_year = |year: &str, length| year.len() == length && is_number(year);
    old_day == new_day
        && is_year(old_year, 4)
        && is_year(new_year, 2)
        && old_year.ends_with(new_year)
}

#[cfg(test)]
mod tests {
    use super::Likeness::{Different, Same, Spoiled};
    use super::*;

    #[test]
    fn equal_numbers_are_the_same() {
        for (shown, edited) in [
            ("1.20", "1.2"),
            ("12", "12.0"),
            ("0.5", "0,5"),
            ("0", "-0"),
            ("67867560000000000000", "6.786756E+019"),
            ("-0.0000002336314", "-2.336314E-07"),
            ("100", "1e2"),
            ("true", "TRUE"),
        ] {
            assert_eq!(compare(shown, edited), Same, "{shown} {edited}");
        }
    }

    #[test]
    fn ids_are_the_same_with_and_without_their_prefix() {
        for (shown, edited) in [
            ("0x06E27239", "06E27239"),
            ("C1708625", "0xC1708625"),
            ("0xC170A625", "0xc170a625"),
            ("0x00000010 0x00000020", "00000010 00000020"),
            ("crate; 0x00000020", "crate; 00000020"),
        ] {
            assert_eq!(compare(shown, edited), Same, "{shown} {edited}");
        }
        assert_eq!(compare("0x06E27239", "06E27230"), Different);
        assert_eq!(compare("0x06E27239", "1.79769313486232E+308"), Spoiled);
        assert_eq!(compare("a b", "a  b"), Different);
    }

    #[test]
    fn what_spreadsheets_lose_is_no_change() {
        for (shown, edited) in [
            ("06E27239", "1.79769313486232E+308"),
            ("06E27239", "1,79769313486232E+308"),
            ("00000010", "10"),
            ("12E00012", "1.2E+13"),
            ("1E000001", "10"),
            ("0012", "12"),
            ("0.0000001004", "1.00E-07"),
            ("340282350000000000000000000000000000000", "3.40E+38"),
            ("=SUM", "#NAME?"),
            ("-x", "Err:508"),
            ("01/02/2003", "01/02/03"),
        ] {
            assert_eq!(compare(shown, edited), Spoiled, "{shown} {edited}");
        }
    }

    #[test]
    fn other_values_are_changes() {
        for (shown, edited) in [
            ("06E27239", "07E27239"),
            ("00001200", "12E00002"),
            ("12E00012", "12E00013"),
            ("1", "2"),
            ("1", ""),
            ("", "0"),
            ("1.004", "1.00"),
            ("0.0000001004", "1.01E-07"),
            ("SUM", "#NAME?"),
            ("01/02/2003", "01/02/04"),
            ("tank", "Tank"),
        ] {
            assert_eq!(compare(shown, edited), Different, "{shown} {edited}");
        }
    }
}
