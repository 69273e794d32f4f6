//! Files as ccperf writes them, and what comes of damage and of malice.

use std::fs;
use std::path::Path;

use ccperf_parquet::{Error, Values, read, read_without};

const ALLOWED: usize = 1 << 20;

fn saved(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/parquet");
    fs::read(folder.join(name).with_extension("parquet")).unwrap()
}

fn refused(file: &[u8], rows: usize) -> String {
    read(file, Some(rows), ALLOWED).unwrap_err().to_string()
}

#[test]
fn numbers_and_texts_are_read_in_order() {
    let columns = read(&saved("samples"), Some(40), ALLOWED).unwrap();
    assert_eq!(columns.len(), 16);
    let Values::I64(times) = &columns[0].1 else { panic!("{:?}", columns[0]) };
    assert_eq!((columns[0].0.as_str(), times.len()), ("time_ns", 40));
    assert!(times.is_sorted());
    assert!(matches!(&columns[5], (name, Values::F64(_)) if name == "srtt_ns"));

    let flows = read(&saved("flows"), Some(2), ALLOWED).unwrap();
    assert!(flows.iter().any(|(name, values)| name == "name"
        && *values == Values::Str(vec!["flow_1".to_string(), "flow_2".to_string()])));
}

#[test]
fn columns_that_are_left_out_take_no_room_and_others_are_as_they_were() {
    let whole = read(&saved("samples"), Some(40), ALLOWED).unwrap();
    let left_out = [whole[0].0.clone(), whole[3].0.clone()];
    let columns = read_without(&saved("samples"), Some(40), 14 * 40 * 8, &left_out).unwrap();
    let kept: Vec<_> = whole.into_iter().filter(|(name, _)| !left_out.contains(name)).collect();
    // Some values are not numbers, which are equal to nothing.
    assert_eq!(format!("{columns:?}"), format!("{kept:?}"));
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let columns = read(&saved("nothing"), Some(0), ALLOWED).unwrap();
    assert!(!columns.is_empty());
    assert!(columns.iter().all(|(_, values)| values.is_empty()));
}

#[test]
fn a_column_of_a_dictionary_that_is_not_there_is_refused() {
    let message = "column `time_ns` has a page that is not plain";
    assert_eq!(refused(&saved("missing_dictionary"), 40), message);
}

#[test]
fn another_number_of_rows_is_refused_after_one_too_many() {
    for (rows, found) in [(39, 40), (41, 40), (0, 1), (7, 8)] {
        let error = Error::Rows { column: "time_ns".to_string(), found, rows };
        assert_eq!(read(&saved("samples"), Some(rows), ALLOWED), Err(error));
    }
    assert!(refused(&saved("flows"), 1).ends_with("has 2 rows or more instead of 1"));
}

#[test]
fn what_expands_too_far_is_refused() {
    assert_eq!(read(&saved("samples"), Some(40), 16 * 40 * 8).unwrap().len(), 16);
    assert_eq!(
        read(&saved("samples"), Some(40), 16 * 40 * 8 - 1),
        Err(Error::Large(16 * 40 * 8 - 1))
    );
}

#[test]
fn pages_of_other_kinds_are_refused() {
    // An index, a dictionary, and data of the second version.
    for kind in [2, 4, 6] {
        let mut file = saved("samples");
        assert_eq!(file[4..6], [0x15, 0]);
        file[5] = kind;
        assert_eq!(refused(&file, 40), "column `time_ns` has a page that is not of data");
    }
}

#[test]
fn other_files_are_refused() {
    let file = saved("samples");
    let footer = u32::try_from(file.len()).unwrap();
    let longer = [&file[..file.len() - 8], &footer.to_le_bytes(), b"PAR1"].concat();
    for other in [&b""[..], b"PAR1", b"PAR1PAR1", &file[1..], &file[..file.len() - 1], &longer] {
        assert_eq!(read(other, Some(40), ALLOWED), Err(Error::NoParquet));
    }
}

#[test]
fn a_file_that_lacks_a_piece_is_refused() {
    let file = saved("samples");
    for length in (1..4000).step_by(37) {
        let cut = [&file[..4], &file[4 + length..]].concat();
        assert!(read(&cut, Some(40), ALLOWED).is_err(), "{length}");
    }
}

#[test]
fn whatever_bit_is_another_the_reader_returns() {
    for (name, rows) in [("samples", 40), ("drops", 40), ("flows", 2), ("nothing", 0)] {
        let mut file = saved(name);
        for at in 0..file.len() {
            file[at] ^= 1 << (at % 8);
            if let Ok(columns) = read(&file, Some(rows), ALLOWED) {
                assert!(columns.iter().all(|(_, values)| values.len() == rows));
            }
            file[at] ^= 1 << (at % 8);
        }
    }
}
