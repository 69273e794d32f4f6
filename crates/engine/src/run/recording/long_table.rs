//! Tables that grow with simulated time: of a long run only the last rows are in memory, those before lie in
//! a file, in chunks of columns, and are read when the table is asked for.
//!
//! The file has no name, so that it is gone with the last that holds it, however the process ends. It
//! lies where the system has temporary files (`TMPDIR`). Runs that are not long never make one, and
//! browsers, which have no files, keep everything.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::full_grid::FullGrid;
use super::{Column, Kept, Kind, Table};

/// So many rows are in memory of each thing that is sampled: 105 s of samples each 30 ms.  The tables of
/// a flow over four directions take 1.4 MiB with these.
const ROWS_OF_EACH: usize = 3_500;
/// Of all of them together, in bytes: many things are sampled, or what happens is recorded.
const MOST: usize = 16 << 20;

/// A group of columns that grow together.
pub(crate) trait Rows: Default {
    const NAME: &'static str;
    const KINDS: &'static [Kind];

    fn count(&self) -> usize;

    /// Writes the columns, one after the other; there are no rows then.
    fn put_away(&mut self, out: &mut impl Write) -> io::Result<()>;

    fn into_table(self) -> Table;
}

/// The values of a column.  Numbers are little-endian, a text follows its length.
pub(crate) trait Cells {
    fn put_away(&mut self, out: &mut impl Write) -> io::Result<()>;
}

impl Cells for Vec<i64> {
    fn put_away(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.drain(..).try_for_each(|value| out.write_all(&value.to_le_bytes()))
    }
}

impl Cells for Vec<f64> {
    fn put_away(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.drain(..).try_for_each(|value| out.write_all(&value.to_le_bytes()))
    }
}

impl Cells for Vec<String> {
    fn put_away(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.drain(..).try_for_each(|value| {
            out.write_all(&(value.len() as u64).to_le_bytes())?;
            out.write_all(value.as_bytes())
        })
    }
}

fn number(from: &mut impl Read) -> io::Result<[u8; 8]> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn text(from: &mut impl Read) -> io::Result<String> {
    let mut bytes = vec![0; u64::from_le_bytes(number(from)?) as usize];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

impl Column {
    fn empty(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::I64 => Column::I64(Vec::with_capacity(rows)),
            Kind::F64 => Column::F64(Vec::with_capacity(rows)),
            Kind::Str => Column::Str(Vec::with_capacity(rows)),
        }
    }

    /// Reads the next values of what was put away.
    fn take_back(&mut self, from: &mut impl Read, rows: usize) -> io::Result<()> {
        for _ in 0..rows {
            match self {
                Column::I64(values) => values.push(i64::from_le_bytes(number(from)?)),
                Column::F64(values) => values.push(f64::from_le_bytes(number(from)?)),
                Column::Str(values) => values.push(text(from)?),
            }
        }
        Ok(())
    }

    /// Adds the values of a column of the same kind.
    fn extend(&mut self, other: Column) {
        match (self, other) {
            (Column::I64(values), Column::I64(rest)) => values.extend(rest),
            (Column::F64(values), Column::F64(rest)) => values.extend(rest),
            (Column::Str(values), Column::Str(rest)) => values.extend(rest),
            _ => unreachable!("of the same table"),
        }
    }
}

/// The rows of a table that are in a file.
#[derive(Debug, Default)]
struct Chunks {
    file: Option<File>,
    /// Rows of each.
    rows: Vec<usize>,
}

impl Chunks {
    fn push(&mut self, rows: &mut impl Rows) -> io::Result<()> {
        self.rows.push(rows.count());
        let mut file = match &self.file {
            Some(file) => file,
            None => self.file.insert(unnamed()?),
        };
        file.seek(SeekFrom::End(0))?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        rows.put_away(&mut out)?;
        out.flush()
    }

    /// The table of these rows and then the `rest`.
    fn read(&self, kinds: &[Kind], mut rest: Table) -> io::Result<Table> {
        let Some(mut file) = self.file.as_ref() else { return Ok(rest) };
        let all = self.rows.iter().sum::<usize>() + rest.rows();
        let mut columns: Vec<_> = kinds.iter().map(|&kind| Column::empty(kind, all)).collect();
        file.seek(SeekFrom::Start(0))?;
        let mut from = BufReader::with_capacity(1 << 16, file);
        for &rows in &self.rows {
            columns.iter_mut().try_for_each(|column| column.take_back(&mut from, rows))?;
        }
        for ((_, rest), mut column) in rest.columns.iter_mut().zip(columns) {
            column.extend(std::mem::replace(rest, Column::I64(Vec::new())));
            *rest = column;
        }
        Ok(rest)
    }
}

/// Rows that become more and more.
pub(crate) struct Growing<R> {
    /// The last of them.
    pub(crate) rows: R,
    /// As many of these are held at the most, and what is added at once.
    most: usize,
    chunks: Chunks,
}

impl<R: Rows> fmt::Debug for Growing<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(R::NAME).field("chunks", &self.chunks.rows.len()).finish_non_exhaustive()
    }
}

impl<R: Rows> Growing<R> {
    /// `things`: how many things are sampled.
    pub(crate) fn of_samples(things: usize) -> Self {
        Self::holding(Self::most().min(ROWS_OF_EACH * things.max(1)))
    }

    /// Of what happens, however often.
    pub(crate) fn of_events() -> Self {
        Self::holding(Self::most())
    }

    fn most() -> usize {
        MOST / (8 * R::KINDS.len())
    }

    /// At most so many rows, or all of them where there are no files.
    fn holding(rows: usize) -> Self {
        let most = if cfg!(target_family = "wasm") { usize::MAX } else { rows };
        Growing { rows: R::default(), most, chunks: Chunks::default() }
    }

    #[cfg(test)]
    pub(crate) fn keep_at_most(&mut self, rows: usize) {
        self.most = rows;
    }

    /// Some rows have been added.
    ///
    /// # Errors
    /// There is no room for the file.
    #[inline]
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.rows.count() < self.most { Ok(()) } else { self.chunks.push(&mut self.rows) }
    }

    /// `grid`: the rows that the table has, if those are left out that are as the ones before.
    pub(crate) fn finish(self, grid: Option<FullGrid>) -> Kept {
        let is_long = !self.chunks.rows.is_empty()
            || grid.as_ref().is_some_and(|grid| grid.rows() >= self.most);
        let rest = self.rows.into_table();
        if is_long {
            return Kept::InFile(LongTable { kinds: R::KINDS, chunks: self.chunks, rest, grid });
        }
        Kept::InMemory(match grid {
            Some(grid) => grid.fill(rest),
            None => rest,
        })
    }
}

impl<R: Rows + Clone> Growing<R> {
    /// The table as it stands; `grid` as in [`Growing::finish`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn so_far(&self, grid: Option<FullGrid>) -> io::Result<Kept> {
        let table = self.chunks.read(R::KINDS, self.rows.clone().into_table())?;
        Ok(Kept::InMemory(match grid {
            Some(grid) => grid.fill(table),
            None => table,
        }))
    }
}

/// A table that lies in a file for the most part, or is much longer than what is held of it.
#[derive(Debug)]
pub struct LongTable {
    kinds: &'static [Kind],
    chunks: Chunks,
    rest: Table,
    grid: Option<FullGrid>,
}

impl LongTable {
    pub fn name(&self) -> &str {
        &self.rest.name
    }

    pub fn rows(&self) -> usize {
        match &self.grid {
            Some(grid) => grid.rows(),
            None => self.chunks.rows.iter().sum::<usize>() + self.rest.rows(),
        }
    }

    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self) -> io::Result<Table> {
        let table = self.chunks.read(self.kinds, self.rest.clone())?;
        Ok(match &self.grid {
            Some(grid) => grid.fill(table),
            None => table,
        })
    }
}

/// A new file, for this process alone.
fn unnamed() -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ccperf-{}-{number}", process::id()));
        match options.open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            // Another process had this number, and was ended in between.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
