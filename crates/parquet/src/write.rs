//! Writes a table: a group of rows, in it each column as pages.
//!
//! Nothing is in the file that reading it does not take: no statistics of pages, no second schema.
//! Of the small tables of a short run such things were nine tenths.

use std::cell::RefCell;

use zstd::bulk::Compressor;

use crate::Error;
use crate::compact::Writer;
use crate::file::{self, BYTES, CHILDREN, COLUMNS, F64, I64, MAGIC, META_DATA, NAME, REPETITION};
use crate::pages::{self, CODEC, COMPRESSED, DATA, ENCODING, FIRST_PAGE, PAGE_VALUES, PLAIN};

/// Fields that are written for others to read, of `FileMetaData`,
const VERSION: i64 = 1;
const FILE_ROWS: i64 = 3;
const CREATED_BY: i64 = 6;
/// of `SchemaElement`,
const CONVERTED: i64 = 6;
const LOGICAL: i64 = 10;
/// of `RowGroup` and `ColumnChunk`,
const SIZE: i64 = 2;
const GROUP_ROWS: i64 = 3;
const OFFSET: i64 = 2;
/// of `ColumnMetaData`
const ENCODINGS: i64 = 2;
const PATH: i64 = 3;
const VALUES: i64 = 5;
const EXPANDED: i64 = 6;
/// and of `DataPageHeader`: how levels, which flat columns without nulls have not, are encoded.
const DEFINITION_LEVELS: i64 = 3;
const REPETITION_LEVELS: i64 = 4;
const RLE: i32 = 3;
/// What a `BYTE_ARRAY` has to say to be a text, in the old way and the new.
const UTF8: i32 = 0;
const STRING: i64 = 1;

/// Zstd's level: level 1 saves a twelfth of the time and takes a twenty-fifth more room.
const LEVEL: i32 = 3;

thread_local! {
    /// Made once: to make it and let it go takes longer than to compress a small table.
    static ZSTD: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Readers keep a page at a time.
const PAGE_ROWS: usize = 1 << 17;

/// The values of one column, to be written.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    I64(&'a [i64]),
    F64(&'a [f64]),
    Str(&'a [String]),
}

impl Column<'_> {
    fn len(self) -> usize {
        match self {
            Column::I64(values) => values.len(),
            Column::F64(values) => values.len(),
            Column::Str(values) => values.len(),
        }
    }

    fn kind(self) -> i32 {
        match self {
            Column::I64(_) => I64,
            Column::F64(_) => F64,
            Column::Str(_) => BYTES,
        }
    }

    /// Appends some rows in the encoding `PLAIN`.
    fn plain(self, rows: std::ops::Range<usize>, page: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Column::I64(values) => numbers(&values[rows], page, |value| value.to_le_bytes()),
            Column::F64(values) => numbers(&values[rows], page, |value| value.to_le_bytes()),
            Column::Str(values) => {
                for text in &values[rows] {
                    let length = u32::try_from(text.len()).map_err(|_| Error::NoRoom)?;
                    page.extend_from_slice(&length.to_le_bytes());
                    page.extend_from_slice(text.as_bytes());
                }
            }
        }
        Ok(())
    }
}

/// Into a page that is empty, each into its place: appended one by one, bytes take longer than zstd.
fn numbers<T: Copy>(values: &[T], page: &mut Vec<u8>, bytes: impl Fn(T) -> [u8; 8]) {
    page.resize(8 * values.len(), 0);
    for (place, &value) in page.as_chunks_mut().0.iter_mut().zip(values) {
        *place = bytes(value);
    }
}

/// Where a column lies.
struct Chunk {
    start: i64,
    stored: i64,
    expanded: i64,
}

/// The file of these columns, the same bytes for the same values, as `read` reads it; each page
/// compressed or not.
///
/// # Errors
/// If the columns are of unequal length, or some text or page is larger than Parquet can say.
pub fn write(columns: &[(String, Column)], compressed: bool) -> Result<Vec<u8>, Error> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    if let Some((name, column)) = columns.iter().find(|(_, column)| column.len() != rows) {
        return Err(Error::Rows { column: name.clone(), found: column.len(), rows });
    }
    let mut out = MAGIC.to_vec();
    let chunks = if compressed {
        ZSTD.with_borrow_mut(|zstd| {
            if zstd.is_none() {
                *zstd = Some(Compressor::new(LEVEL).map_err(|_| Error::NoRoom)?);
            }
            all_chunks(columns, zstd.as_mut(), &mut out)
        })
    } else {
        all_chunks(columns, None, &mut out)
    }?;
    let start = out.len();
    let codec = if compressed { pages::ZSTD } else { pages::UNCOMPRESSED };
    footer(columns, size(rows)?, &chunks, codec, &mut out);
    let length = u32::try_from(out.len() - start).map_err(|_| Error::NoRoom)?;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(MAGIC);
    Ok(out)
}

fn all_chunks(
    columns: &[(String, Column)],
    mut zstd: Option<&mut Compressor>,
    out: &mut Vec<u8>,
) -> Result<Vec<Chunk>, Error> {
    columns.iter().map(|(_, column)| chunk(*column, zstd.as_deref_mut(), out)).collect()
}

/// Writes the pages of a column.
fn chunk(
    column: Column,
    mut zstd: Option<&mut Compressor>,
    out: &mut Vec<u8>,
) -> Result<Chunk, Error> {
    let start = out.len();
    let mut expanded = 0;
    let mut page = Vec::new();
    for first in (0..column.len()).step_by(PAGE_ROWS) {
        let rows = first..column.len().min(first + PAGE_ROWS);
        let count = rows.len();
        page.clear();
        column.plain(rows, &mut page)?;
        let kept;
        let stored = match zstd.as_mut() {
            Some(zstd) => {
                kept = zstd.compress(&page).map_err(|_| Error::NoRoom)?;
                &kept
            }
            None => &page,
        };
        let header = out.len();
        page_header(small(count)?, small(page.len())?, small(stored.len())?, out);
        expanded += out.len() - header + page.len();
        out.extend_from_slice(stored);
    }
    Ok(Chunk { start: size(start)?, stored: size(out.len() - start)?, expanded: size(expanded)? })
}

fn page_header(values: i32, expanded: i32, stored: i32, out: &mut Vec<u8>) {
    Writer::write(out, |page| {
        page.i32(pages::KIND, pages::DATA_PAGE);
        page.i32(pages::PAGE_EXPANDED, expanded);
        page.i32(pages::PAGE_COMPRESSED, stored);
        page.structure(DATA, |data| {
            data.i32(PAGE_VALUES, values);
            data.i32(ENCODING, PLAIN);
            data.i32(DEFINITION_LEVELS, RLE);
            data.i32(REPETITION_LEVELS, RLE);
        });
    });
}

fn footer(
    columns: &[(String, Column)],
    rows: i64,
    chunks: &[Chunk],
    codec: i32,
    out: &mut Vec<u8>,
) {
    // Without rows there are no groups of them, since a column has a page in each.
    let groups = usize::from(rows > 0);
    let root = std::iter::once(None);
    let elements: Vec<_> = root.chain(columns.iter().map(Some)).collect();
    Writer::write(out, |file| {
        file.i32(VERSION, 1);
        file.structures(file::SCHEMA, elements.into_iter(), |element, column| match column {
            None => {
                element.text(NAME, "table");
                element.i32(CHILDREN, i32::try_from(columns.len()).unwrap_or(i32::MAX));
            }
            Some((name, column)) => {
                element.i32(file::KIND, column.kind());
                element.i32(REPETITION, file::REQUIRED);
                element.text(NAME, name);
                if matches!(column, Column::Str(_)) {
                    element.i32(CONVERTED, UTF8);
                    element.structure(LOGICAL, |kind| kind.structure(STRING, |_| ()));
                }
            }
        });
        file.i64(FILE_ROWS, rows);
        file.structures(file::ROW_GROUPS, 0..groups, |group, _| {
            let of_columns = columns.iter().zip(chunks);
            group.structures(COLUMNS, of_columns, |of_column, ((name, column), chunk)| {
                of_column.i64(OFFSET, 0);
                of_column.structure(META_DATA, |about| {
                    about.i32(file::KIND, column.kind());
                    about.i32s(ENCODINGS, &[PLAIN, RLE]);
                    about.texts(PATH, &[name]);
                    about.i32(CODEC, codec);
                    about.i64(VALUES, rows);
                    about.i64(EXPANDED, chunk.expanded);
                    about.i64(COMPRESSED, chunk.stored);
                    about.i64(FIRST_PAGE, chunk.start);
                });
            });
            group.i64(SIZE, chunks.iter().map(|chunk| chunk.expanded).sum());
            group.i64(GROUP_ROWS, rows);
        });
        file.text(CREATED_BY, "ccperf");
    });
}

fn small(number: usize) -> Result<i32, Error> {
    i32::try_from(number).map_err(|_| Error::NoRoom)
}

fn size(number: usize) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| Error::NoRoom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Values, read};

    #[test]
    fn what_is_written_is_read() {
        let rows = 2 * PAGE_ROWS + 1;
        let numbers: Vec<i64> = (i64::MIN..).take(rows).collect();
        let reals: Vec<f64> = (0_u32..).map(|row| 1.0 / f64::from(row)).take(rows).collect();
        let texts: Vec<String> = (0..rows).map(|row| "é".repeat(row % 3)).collect();
        let columns = [
            ("numbers".to_string(), Column::I64(&numbers)),
            ("reals".to_string(), Column::F64(&reals)),
            ("texts".to_string(), Column::Str(&texts)),
        ];
        for compressed in [false, true] {
            let file = write(&columns, compressed).unwrap();
            let found = read(&file, Some(rows), 1 << 30).unwrap();
            assert_eq!(found[0], ("numbers".to_string(), Values::I64(numbers.clone())));
            assert_eq!(found[1], ("reals".to_string(), Values::F64(reals.clone())));
            assert_eq!(found[2], ("texts".to_string(), Values::Str(texts.clone())));
        }
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let columns = [("a".to_string(), Column::I64(&[])), ("b".to_string(), Column::Str(&[]))];
        let found = read(&write(&columns, true).unwrap(), Some(0), 0).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|(_, values)| values.is_empty()));
    }

    #[test]
    fn columns_of_unequal_length_are_refused() {
        let columns =
            [("a".to_string(), Column::I64(&[1])), ("b".to_string(), Column::F64(&[1.0, 2.0]))];
        let error = Error::Rows { column: "b".to_string(), found: 2, rows: 1 };
        assert_eq!(write(&columns, false), Err(error));
    }
}
