//! A file: its columns, and in each group of rows where they lie.

use crate::compact::{Reader, Structure, as_structure, count, integer, list, structure, text};
use crate::pages::{Expander, append};
use crate::{Error, Values};

pub const MAGIC: &[u8] = b"PAR1";
/// Fields of `FileMetaData`, `RowGroup` and `ColumnChunk`.
pub const SCHEMA: i64 = 2;
pub const ROW_GROUPS: i64 = 4;
pub const COLUMNS: i64 = 1;
pub const META_DATA: i64 = 3;
/// Fields of `SchemaElement`, and of `ColumnMetaData` the same kind.
pub const KIND: i64 = 1;
pub const REPETITION: i64 = 3;
pub const NAME: i64 = 4;
pub const CHILDREN: i64 = 5;
/// Of `FieldRepetitionType`.
pub const REQUIRED: i32 = 0;
/// Of `Type`.
pub const I64: i32 = 2;
pub const F64: i32 = 5;
pub const BYTES: i32 = 6;

/// The columns of a file with `rows` rows (any number, if there is none), in order.
///
/// # Errors
/// For whatever is not a file as ccperf writes it, for one with another number of rows, and for one
/// whose pages expand to more than `allowed` bytes.
pub fn read(
    file: &[u8],
    rows: Option<usize>,
    allowed: usize,
) -> Result<Vec<(String, Values)>, Error> {
    read_without(file, rows, allowed, &[])
}

/// The columns of a file but for some, whose pages are not looked at; see [`read`].
///
/// # Errors
/// As [`read`].
pub fn read_without(
    file: &[u8],
    rows: Option<usize>,
    allowed: usize,
    left_out: &[String],
) -> Result<Vec<(String, Values)>, Error> {
    let most = rows.unwrap_or(usize::MAX);
    let footer = footer(file)?;
    let mut columns = schema(&footer)?;
    let mut expander = Expander::new(allowed)?;
    for group in list(&footer, ROW_GROUPS)? {
        let chunks = list(as_structure(group)?, COLUMNS)?;
        if chunks.len() != columns.len() {
            return Err(Error::Layout("a group of rows has other columns than the file"));
        }
        for ((name, values), chunk) in columns.iter_mut().zip(chunks) {
            if left_out.contains(name) {
                continue;
            }
            let column = structure(as_structure(chunk)?, META_DATA)?;
            if empty(integer(column, KIND)?).is_none_or(|kind| !same(&kind, values)) {
                return Err(Error::Column(name.clone(), "changes its kind"));
            }
            append(name, file, column, &mut expander, most, values)?;
        }
    }
    columns.retain(|(name, _)| !left_out.contains(name));
    let rows = rows.or(columns.first().map(|(_, values)| values.len())).unwrap_or(0);
    match columns.iter().find(|(_, values)| values.len() != rows) {
        Some((column, values)) => {
            Err(Error::Rows { column: column.clone(), found: values.len(), rows })
        }
        None => Ok(columns),
    }
}

fn footer(file: &[u8]) -> Result<Structure<'_>, Error> {
    let inner = file.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC));
    let (rest, length) = inner.and_then(<[u8]>::split_last_chunk).ok_or(Error::NoParquet)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Error::NoParquet)?;
    let start = rest.len().checked_sub(length).ok_or(Error::NoParquet)?;
    Reader(&rest[start..]).structure()
}

/// Each column without its values.
fn schema(footer: &Structure) -> Result<Vec<(String, Values)>, Error> {
    let (root, leaves) = list(footer, SCHEMA)?.split_first().ok_or(Error::Layout("no schema"))?;
    if count(as_structure(root)?, CHILDREN)? != leaves.len() {
        return Err(Error::Layout("its columns are not flat"));
    }
    leaves.iter().map(|leaf| column(as_structure(leaf)?)).collect()
}

fn column(leaf: &Structure) -> Result<(String, Values), Error> {
    let name = text(leaf, NAME)?.to_string();
    match empty(integer(leaf, KIND)?) {
        Some(values) if integer(leaf, REPETITION)? == REQUIRED.into() => Ok((name, values)),
        _ => Err(Error::Column(name, "is of a kind that ours are not")),
    }
}

/// A column of the `Type` of that number.
fn empty(kind: i64) -> Option<Values> {
    match i32::try_from(kind) {
        Ok(I64) => Some(Values::I64(Vec::new())),
        Ok(F64) => Some(Values::F64(Vec::new())),
        Ok(BYTES) => Some(Values::Str(Vec::new())),
        _ => None,
    }
}

fn same(one: &Values, other: &Values) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
