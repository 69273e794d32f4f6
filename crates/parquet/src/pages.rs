//! The data pages of a column.

use zstd::bulk::Decompressor;

use crate::compact::{Reader, Structure, count, integer, structure};
use crate::{Error, Values};

/// Fields of `ColumnMetaData`.
pub const CODEC: i64 = 4;
pub const COMPRESSED: i64 = 7;
pub const FIRST_PAGE: i64 = 9;
const DICTIONARY: i64 = 11;
/// Fields of `PageHeader` and `DataPageHeader`, and what we write into them.
pub const KIND: i64 = 1;
pub const PAGE_EXPANDED: i64 = 2;
pub const PAGE_COMPRESSED: i64 = 3;
pub const DATA: i64 = 5;
pub const PAGE_VALUES: i64 = 1;
pub const ENCODING: i64 = 2;
pub const DATA_PAGE: i32 = 0;
pub const PLAIN: i32 = 0;
/// `CompressionCodec`s.
pub const UNCOMPRESSED: i32 = 0;
pub const ZSTD: i32 = 6;

/// Expands pages, as long as together they are no larger than allowed.
pub struct Expander {
    left: usize,
    pub allowed: usize,
    zstd: Decompressor<'static>,
    page: Vec<u8>,
}

impl Expander {
    pub fn new(allowed: usize) -> Result<Self, Error> {
        // It fails where there is no memory.
        let zstd = Decompressor::new().map_err(|_| Error::Large(allowed))?;
        Ok(Expander { left: allowed, allowed, zstd, page: Vec::new() })
    }

    /// The page of `size` bytes that `stored` is.
    fn expand<'a>(
        &'a mut self,
        stored: &'a [u8],
        codec: i64,
        size: usize,
    ) -> Result<&'a [u8], Why> {
        self.left = self.left.checked_sub(size).ok_or(Why::Large)?;
        match i32::try_from(codec) {
            Ok(UNCOMPRESSED) if stored.len() == size => return Ok(stored),
            Ok(ZSTD) => {}
            _ => return Err(Why::Told("is stored in a way that ours are not")),
        }
        self.page.clear();
        self.page.resize(size, 0);
        match self.zstd.decompress_to_buffer(stored, &mut self.page[..]) {
            Ok(found) if found == size => Ok(&self.page),
            _ => Err(Why::Told("has a page that cannot be expanded")),
        }
    }
}

enum Why {
    Told(&'static str),
    Large,
    Other(Error),
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        Why::Other(error)
    }
}

/// Appends what a column holds in one group of rows.  There may be one value too many, for the caller
/// to see that; never more.
pub fn append(
    name: &str,
    file: &[u8],
    column: &Structure,
    expander: &mut Expander,
    rows: usize,
    values: &mut Values,
) -> Result<(), Error> {
    walk(file, column, expander, rows, values).map_err(|why| match why {
        Why::Told(text) => Error::Column(name.to_string(), text),
        Why::Large => Error::Large(expander.allowed),
        Why::Other(error) => error,
    })
}

fn walk(
    file: &[u8],
    column: &Structure,
    expander: &mut Expander,
    rows: usize,
    values: &mut Values,
) -> Result<(), Why> {
    if column.contains_key(&DICTIONARY) {
        return Err(Why::Told("has a dictionary, which ours have not"));
    }
    let codec = integer(column, CODEC)?;
    let (start, length) = (count(column, FIRST_PAGE)?, count(column, COMPRESSED)?);
    let pages = file.get(start..).and_then(|rest| rest.get(..length));
    let mut pages = Reader(pages.ok_or(Why::Told("lies outside the file"))?);
    while !pages.0.is_empty() && values.len() <= rows {
        let header = pages.structure()?;
        if integer(&header, KIND)? != DATA_PAGE.into() {
            return Err(Why::Told("has a page that is not of data"));
        }
        let data = structure(&header, DATA)?;
        if integer(data, ENCODING)? != PLAIN.into() {
            return Err(Why::Told("has a page that is not plain"));
        }
        let stored = pages.bytes(count(&header, PAGE_COMPRESSED)?)?;
        let page = expander.expand(stored, codec, count(&header, PAGE_EXPANDED)?)?;
        plain(page, count(data, PAGE_VALUES)?, rows, values)?;
    }
    Ok(())
}

/// Appends the `count` values of a page in the encoding `PLAIN`.
fn plain(page: &[u8], count: usize, rows: usize, values: &mut Values) -> Result<(), Why> {
    const OTHER: Why = Why::Told("has a page of another size than its values");
    // Of too many, one tells.
    let wanted = rows.saturating_add(1).saturating_sub(values.len());
    match values {
        Values::I64(_) | Values::F64(_) if count.checked_mul(8) != Some(page.len()) => {
            return Err(OTHER);
        }
        Values::I64(numbers) => {
            numbers.extend(page.as_chunks().0.iter().take(wanted).copied().map(i64::from_le_bytes));
        }
        Values::F64(numbers) => {
            numbers.extend(page.as_chunks().0.iter().take(wanted).copied().map(f64::from_le_bytes));
        }
        Values::Str(texts) => {
            let mut rest = Reader(page);
            for _ in 0..count.min(wanted) {
                let text = text(&mut rest).map_err(|_| OTHER)?;
                let text =
                    std::str::from_utf8(text).map_err(|_| Why::Told("has what is no text"))?;
                texts.push(text.to_string());
            }
            if count <= wanted && !rest.0.is_empty() {
                return Err(OTHER);
            }
        }
    }
    Ok(())
}

fn text<'a>(page: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let length = page.bytes(4)?.try_into().map(u32::from_le_bytes).map_err(|_| Error::Short)?;
    page.bytes(usize::try_from(length).map_err(|_| Error::Short)?)
}
