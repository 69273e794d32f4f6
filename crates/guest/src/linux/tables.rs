//! Hands a recording over: a line of JSON that says what follows, then the columns as they are in memory, as the driver of
//! ns-3 does.

use std::collections::HashMap;
use std::io::{Result, Write};

use ccperf_engine::run::recording::{Column, Recording};
use serde_json::json;

/// # Errors
/// It cannot be written.
pub fn write(recording: Recording, out: &mut impl Write) -> Result<()> {
    let (mut head, mut data) = (Vec::new(), Vec::new());
    for table in recording.read()? {
        for (name, column) in table.columns {
            let (kind, rows) = (kind(&column), column.len());
            let words = put(column, &mut data);
            head.push(json!({
                "table": table.name, "column": name, "kind": kind, "rows": rows, "words": words,
            }));
        }
    }
    serde_json::to_writer(&mut *out, &head)?;
    out.write_all(b"\n")?;
    out.write_all(&data)
}

fn kind(column: &Column) -> &'static str {
    match column {
        Column::I64(_) => "int",
        Column::F64(_) => "float",
        Column::Str(_) => "str",
    }
}

/// Texts are numbers in a list of words, which is returned.
fn put(column: Column, data: &mut Vec<u8>) -> Vec<String> {
    match column {
        Column::I64(values) => data.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        Column::F64(values) => data.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        Column::Str(values) => {
            let (mut words, mut known) = (Vec::new(), HashMap::new());
            for value in values {
                let code = *known.entry(value).or_insert_with_key(|value| {
                    words.push(value.clone());
                    words.len() as i64 - 1
                });
                data.extend(code.to_le_bytes());
            }
            return words;
        }
    }
    Vec::new()
}
