//! Tables as one block of bytes, for typed arrays that look into it without copying.
//!
//! The number of tables; of each its name, rows and number of columns; of each column its name, its
//! kind (0: whole numbers, 1: numbers, 2: words) and its values.  Counts, lengths, kinds and values are
//! little-endian and have 64 bits.  A word is its length in bytes and its UTF-8, filled up with zeros to
//! a multiple of eight, so that all values are aligned.

use ccperf_engine::run::recording::{Column, Table};

pub fn pack(tables: &[Table]) -> Vec<u8> {
    let mut block = Vec::new();
    number(&mut block, tables.len());
    for table in tables {
        word(&mut block, &table.name);
        number(&mut block, table.rows());
        number(&mut block, table.columns.len());
        for (name, column) in &table.columns {
            word(&mut block, name);
            match column {
                Column::I64(values) => {
                    number(&mut block, 0);
                    block.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
                Column::F64(values) => {
                    number(&mut block, 1);
                    block.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                }
                Column::Str(values) => {
                    number(&mut block, 2);
                    values.iter().for_each(|value| word(&mut block, value));
                }
            }
        }
    }
    block
}

fn number(block: &mut Vec<u8>, value: usize) {
    block.extend((value as u64).to_le_bytes());
}

fn word(block: &mut Vec<u8>, text: &str) {
    number(block, text.len());
    block.extend(text.as_bytes());
    block.resize(block.len().next_multiple_of(8), 0);
}
