//! Writes the Parquet files that ccperf keeps tables in, and reads them.
//!
//! They have one shape: flat columns without nulls, of 64-bit integers, doubles and texts, in plain data
//! pages, compressed by zstd or not at all.  Whatever else a file has is refused, so a file that a
//! stranger has made, or that has been damaged, ends in an [`Error`], and takes no more memory than it is
//! allowed to.  Layout and numbers are those of the specification (`parquet.thrift` of Apache Parquet).

mod compact;
mod file;
mod pages;
mod write;

use thiserror::Error;

pub use file::{read, read_without};
pub use write::{Column, write};

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    I64(Vec<i64>),
    F64(Vec<f64>),
    Str(Vec<String>),
}

impl Values {
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::I64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Str(values) => values.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a file is not read, or not written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    #[error("it is no Parquet file")]
    NoParquet,
    #[error("it ends too soon")]
    Short,
    #[error("its description is not laid out as in Parquet: {0}")]
    Layout(&'static str),
    #[error("column `{0}` {1}")]
    Column(String, &'static str),
    #[error("it expands to more than {0} bytes")]
    Large(usize),
    #[error("column `{column}` has {found} rows or more instead of {rows}")]
    Rows { column: String, found: usize, rows: usize },
    #[error("it does not fit into a Parquet file")]
    NoRoom,
}
