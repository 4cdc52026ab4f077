use super::*;

const SHOWN: &str = "id\tname\ttype\tx\tmodel\tnote\n\
    06E27239\tPANEL\tUI\t6.5\t39BFDD8A\t=SUM\n\
    00000010\tTANK\tSIMP\t-1\t06E27239\tsay \u{e9}\n\
    2282B5CB\tHOOK\tDYNA\t0.00000012345\t\t\n\
    2282B5CC\tHOOK\tDYNA\t7\t\t\n";

const RULES: Rules<'_> = Rules {
    keys: &[&["id"], &["name", "type"]],
    name: Some("name"),
    is_editable: &|column| ["x", "model", "note"].contains(&column),
    adding: Adding::Never,
    can_delete: false,
};

fn read(edited: impl AsRef<[u8]>, rules: &Rules<'_>) -> Result<Differences, String> {
    differences(SHOWN.as_bytes(), edited.as_ref(), rules)
}

/// Returns the changes as texts: row, column, new text.
fn changes(edited: impl AsRef<[u8]>) -> Vec<String> {
    let found = read(edited, &RULES).unwrap();
    assert!(found.added.is_empty() && found.deleted.is_empty());
    let changes = found.changes.iter();
    changes
        .map(|change| format!("{} {} {}", change.row, change.column, change.text))
        .collect()
}

fn refusal(edited: &str) -> String {
    read(edited, &RULES).unwrap_err()
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_table_that_cannot_be_edited_is_unchanged_if_its_cells_are_equal() {
    let shown = b"id\tname\tsize\n0x00000010\ta\t1.5\n0x00000020\tb\t2\n";
    let is_unchanged = |edited: &str| is_unchanged(shown, edited.as_bytes());
    assert!(is_unchanged("id;name;size\r\n10;a;1,5\r\n00000020;b;2\r\n"));
    for edited in [
        "id\tname\tsize\n0x00000010\ta\t1.5\n",
        "id\tname\tsize\n0x00000010\ta\t1.5\n0x00000020\tc\t2\n",
        "#\tid\tname\tsize\n-\t0x00000010\ta\t1.5\n\t0x00000020\tb\t2\n",
        "id\tname\tother\n0x00000010\ta\t1.5\n0x00000020\tb\t2\n",
        "",
    ] {
        assert!(!is_unchanged(edited), "{edited}");
    }
}

#[test]
fn a_copy_has_no_differences_in_any_letters_and_line_ends() {
    assert_eq!(read(SHOWN, &RULES).unwrap(), Differences::default());
    let utf16: Vec<u8> = "\u{feff}"
        .chars()
        .chain(SHOWN.chars())
        .collect::<String>()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(read(utf16, &RULES).unwrap(), Differences::default());
    let windows = format!("\u{feff}{}\r\n\r\n", SHOWN.replace('\n', "\r\n"));
    assert_eq!(read(windows, &RULES).unwrap(), Differences::default());
}

#[test]
fn changed_cells_are_found_by_key_and_column() {
    let edited = "X\tname\ttype\tID\t# mine\n8\tHOOK\tDYNA\t2282b5cc\t\n";
    assert_eq!(changes(edited), ["3 x 8"]);
    assert_eq!(changes("id\tx\n06e27239\t8\n"), ["0 x 8"]);
    assert_eq!(changes("name\ttype\tx\ntank\tsimp\t8\n"), ["1 x 8"]);
    let edited = "X\tID\t# mine\n8\t2282B5CC\tthis\n\t\t\n-1\t00000010\t\n";
    assert_eq!(changes(edited), ["3 x 8"]);
    let found = read(edited, &RULES).unwrap();
    assert_eq!(
        found.changes[0].problem("is no number"),
        "line 2, column x (HOOK): is no number"
    );
}

#[test]
fn quotes_separators_and_decimal_commas_are_undone() {
    let edited =
        "\"id\";\"x\";\"note\"\n\"00000010\";\"-2,5\";\"a;\"\"b\"\"\"\n06E27239;6,5;=SUM\n";
    assert_eq!(changes(edited), ["1 x -2.5", "1 note a;\"b\""]);
    assert_eq!(changes("id,x\n00000010,-1.0\n06E27239,7\n"), ["0 x 7"]);
}

#[test]
fn quotes_of_a_table_stay_unless_a_spreadsheet_doubled_them() {
    let shown = "id\ttext\n1\t\"a\"\n2\tsay \"b\"\n3\tc\n";
    let rules = Rules {
        keys: &[&["id"]],
        is_editable: &|_| true,
        name: None,
        ..RULES
    };
    let edited = "id\ttext\n1\t\"x\"\n2\t\"say \"\"b\"\"\"\n3\t\"say \"\"c\"\"\"\n";
    let found = differences(shown.as_bytes(), edited.as_bytes(), &rules).unwrap();
    let texts: Vec<_> = found
        .changes
        .iter()
        .map(|change| (change.row, &*change.text))
        .collect();
    assert_eq!(texts, [(0, "\"x\""), (2, "say \"c\"")]);
}

#[test]
fn a_quote_that_is_not_closed_swallows_no_rows() {
    let edited = "id\tnote\tx\n00000010\t\"a\t1\n06E27239\tb\t7\n";
    assert_eq!(refusal(edited), "line 2: a quote is not closed");
}

#[test]
fn cells_that_a_spreadsheet_spoiled_are_unchanged_and_counted() {
    let edited = "id\tname\ttype\tx\tmodel\tnote\n\
        1.79769313486232E+308\tPANEL\tUI\t6.5\t39BFDD8A\t#NAME?\n\
        10\tTANK\tSIMP\t-1\t1.79769313486232E+308\tsay \u{e9}\n\
        2282B5CB\tHOOK\tDYNA\t1.23E-07\t\t\n";
    assert_eq!(changes(edited), NOTHING);
    let warnings = read(edited, &RULES).unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "5 cells are as a spreadsheet spoils them, and count as unchanged: the first is in line 2"
        ]
    );
}

#[test]
fn comparisons_of_rows_that_only_another_key_names_are_bounded() {
    let columns: String = (0..253).map(|number| format!("\tc{number}")).collect();
    let table = |first: usize| {
        let rows = (first..first + 1000).map(|id| format!("{id:08X}\tHOOK\tDYNA\n"));
        format!("id\tname\ttype{columns}\n{}", rows.collect::<String>())
    };
    let found = differences(table(0).as_bytes(), table(5000).as_bytes(), &RULES);
    assert_eq!(found.unwrap_err(), pairs::TOO_MANY);
}

#[test]
fn another_key_names_rows_without_the_first() {
    assert_eq!(changes("name\ttype\tx\nTANK\tSIMP\t4\n"), ["1 x 4"]);
    assert_eq!(
        refusal("name\ttype\tx\nHOOK\tDYNA\t4\n"),
        "line 2: could be several rows with the key HOOK DYNA: keep their number and order"
    );
    assert_eq!(
        changes("name\ttype\tx\nHOOK\tDYNA\t7\nHOOK\tDYNA\t1\n"),
        ["2 x 1"]
    );
    assert_eq!(
        refusal("id\tname\ttype\n99999999\tTANK\tSIMP\n"),
        "line 2: no row has the key 99999999"
    );
}

#[test]
fn what_cannot_be_edited_is_refused_all_at_once() {
    let edited = "id\ttype\tx\n00000010\tPLAT\t1\n06E27239\tUI\t1\t2\n00000010\tSIMP\t2\n";
    assert_eq!(
        refusal(edited),
        "line 4: has the key 00000010 of line 2, and other cells; \
         line 2, column type (TANK): is derived; was \"SIMP\"; \
         line 3: has 4 cells, the header 3"
    );
    assert_eq!(
        refusal("id\theight\tid\n"),
        "line 1, column height: is unknown; line 1, column id: is there twice"
    );
    let header = "line 1: must be the header, the names of the columns";
    assert_eq!(refusal("00000010\tTANK\n"), header);
    assert_eq!(refusal(""), header);
    assert_eq!(
        refusal("x\tname\n1\tTANK\n"),
        "line 1: must have the columns that name a row: id"
    );
    assert_eq!(
        refusal("#\tid\n-\t00000010\n"),
        "line 2: rows cannot be deleted here"
    );
    assert_eq!(
        read(b"id\n\xe9\n", &RULES).unwrap_err(),
        "is not UTF-8 in line 2: save it as UTF-8"
    );
}

#[test]
fn rows_are_added_and_deleted_where_they_may() {
    let rules = Rules {
        keys: &[&["asset", "index"]],
        name: None,
        is_editable: &|column| column == "x",
        adding: Adding::WithoutIndex,
        can_delete: true,
    };
    let shown = "asset\tindex\tx\na\t0\t1\na\t1\t2\n";
    let edited = "#\tasset\tindex\tx\n\ta\t0\t1\n-\ta\t1\t2\n\ta\t\t3\n";
    let found = differences(shown.as_bytes(), edited.as_bytes(), &rules).unwrap();
    assert_eq!(found.deleted, [Deleted { row: 1, line: 3 }]);
    let [added] = &found.added[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (added.line, added.get("asset"), added.get("x")),
        (4, "a", "3")
    );
    assert_eq!(added.get("index"), "");
    let rules = Rules {
        keys: &[&["asset"]],
        adding: Adding::Behind,
        ..rules
    };
    let edited = "asset\tindex\tx\na\t0\t1\na\t1\t2\na\t\t3\n";
    let found = differences(shown.as_bytes(), edited.as_bytes(), &rules).unwrap();
    assert_eq!((found.added.len(), found.changes.len()), (1, 0));
}

#[test]
fn a_row_without_an_index_is_new_where_there_is_such_a_column() {
    let rules = Rules {
        keys: &[&["asset", "index"], &["asset"]],
        name: None,
        is_editable: &|column| column == "x",
        adding: Adding::Behind,
        can_delete: false,
    };
    let shown = "asset\tindex\tx\na\t0\t1\na\t1\t2\n";
    let found = |edited: &str| {
        let found = differences(shown.as_bytes(), edited.as_bytes(), &rules).unwrap();
        (found.added.len(), found.changes.len())
    };
    assert_eq!(found("asset\tindex\tx\na\t0\t1\na\t1\t2\na\t\t3\n"), (1, 0));
    // A row that is missing is unchanged, and not the new one.
    assert_eq!(found("asset\tindex\tx\na\t0\t1\na\t\t3\n"), (1, 0));
    assert_eq!(found("asset\tindex\tx\na\t\t3\n"), (1, 0));
    assert_eq!(found("asset\tx\na\t1\na\t2\na\t3\n"), (1, 0));
}

#[test]
fn tables_of_too_many_rows_or_columns_are_refused() {
    let rows = |count: usize| "id\tx\n".to_owned() + &"a\n".repeat(count);
    assert_eq!(refusal(&rows((1 << 20) + 1)), "has more than 1048576 rows");
    let columns = |count: usize| "id\tx".to_owned() + &"\t#".repeat(count - 2) + "\n";
    assert_eq!(changes(columns(1 << 14)), NOTHING);
    let reason = "line 1: has more than 16384 cells";
    assert_eq!(refusal(&columns((1 << 14) + 1)), reason);
}

#[test]
fn escapes_of_edited_texts_are_undone_where_the_text_has_some() {
    let edited = |text, cell| edited_text(text, cell);
    assert_eq!(edited("a\\tank", "b\\tank"), Ok("b\\tank".to_owned()));
    let text = "a\u{1b}\u{81}\n\\\\";
    let cell = "b\\u{1b}\\u{81}\\n\\\\\\u{}\\";
    assert_eq!(
        edited(text, cell),
        Ok("b\u{1b}\u{81}\n\\\\\\u{}\\".to_owned())
    );
    assert!(edited("a\n\\new", "b\\n\\new").is_err());
}

mod properties {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Cells as tables have them.
    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<f32>().prop_filter_map("a number", |number| {
                number.is_finite().then(|| number.to_string())
            }),
            any::<i16>().prop_map(|number| number.to_string()),
            any::<u32>().prop_map(|id| format!("{id:08X}")),
            "[a-zA-Z_;, .\u{e9}\\\\]{0,6}",
            Just(String::new()),
        ]
    }

    /// A table of three columns, with unique keys in the first.
    fn table() -> impl Strategy<Value = Vec<[String; 3]>> {
        prop::collection::vec([cell(), cell()], 1..8).prop_map(|rows| {
            let rows = rows.into_iter().enumerate();
            rows.map(|(number, [a, b])| [format!("row {number}"), a, b])
                .collect()
        })
    }

    /// Writes a table with a separator and quotes.
    fn written(
        rows: &[[String; 3]],
        order: &[usize],
        separator: u8,
        quotes: csv::QuoteStyle,
    ) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new()
            .delimiter(separator)
            .quote_style(quotes)
            .from_writer(Vec::new());
        let header = ["key", "a", "b"].map(str::to_owned);
        for row in [&header].into_iter().chain(rows) {
            writer
                .write_record(order.iter().map(|&column| &row[column]))
                .unwrap();
        }
        writer.into_inner().unwrap()
    }

    fn rules() -> Rules<'static> {
        Rules {
            keys: &[&["key"]],
            name: None,
            is_editable: &|_| true,
            ..RULES
        }
    }

    proptest! {
        #[test]
        fn exactly_the_edits_are_found_in_any_dialect(
            rows in table(),
            edits in prop::collection::btree_map((0..8_usize, 1..3_usize), "[xyz]{1,3}", 0..4),
            separator in prop::sample::select(vec![b'\t', b';', b',']),
            is_quoted in any::<bool>(),
            order in prop::sample::select(vec![vec![0, 1, 2], vec![2, 0, 1], vec![1, 0], vec![0]]),
            shuffled in any::<prop::sample::Index>(),
        ) {
            let shown = written(&rows, &[0, 1, 2], b'\t', csv::QuoteStyle::Never);
            let mut edited = rows.clone();
            let mut expected = BTreeMap::new();
            for ((row, column), text) in edits {
                if row < rows.len() && order.contains(&column) && rows[row][column] != text {
                    edited[row][column].clone_from(&text);
                    expected.insert((row, ["key", "a", "b"][column].to_owned()), text);
                }
            }
            let turn = shuffled.index(edited.len());
            edited.rotate_left(turn);
            let quotes = match is_quoted {
                true => csv::QuoteStyle::Always,
                false => csv::QuoteStyle::Necessary,
            };
            let edited = written(&edited, &order, separator, quotes);
            let found = differences(&shown, &edited, &rules()).unwrap();
            let changes = found.changes.into_iter();
            let changes: BTreeMap<_, _> = changes
                .map(|change| ((change.row, change.column.to_string()), change.text))
                .collect();
            prop_assert_eq!(changes, expected);
            prop_assert_eq!((found.added, found.deleted), (Vec::new(), Vec::new()));
        }

        #[test]
        fn any_bytes_are_read_or_refused(edited in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = differences(SHOWN.as_bytes(), &edited, &RULES);
            let _ = differences(SHOWN.as_bytes(), &[b"id\tx\n", &edited[..]].concat(), &RULES);
        }
    }
}
