//! What a run leaves behind: named tables of typed columns of equal length.

pub(crate) mod full_grid;
pub(crate) mod long_table;
pub(crate) mod tables;

use std::io;

pub use long_table::LongTable;
pub use tables::TABLES;

/// What a table holds.
#[derive(Debug)]
pub struct TableSpec {
    pub name: &'static str,
    /// What a row is, and in which order rows are.
    pub row: &'static str,
    /// Whether a recording has it only if the scenario asks for it.
    pub is_optional: bool,
    pub columns: &'static [ColumnSpec],
}

/// What a column holds.
#[derive(Debug)]
pub struct ColumnSpec {
    pub name: &'static str,
    pub kind: Kind,
    /// Empty for words, indices and counts of events.
    pub unit: &'static str,
    pub meaning: &'static str,
}

/// The type of a column's values, as [`Column`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    I64,
    F64,
    Str,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    I64(Vec<i64>),
    /// NaN means "no value yet".
    F64(Vec<f64>),
    Str(Vec<String>),
}

impl Column {
    pub fn len(&self) -> usize {
        match self {
            Column::I64(values) => values.len(),
            Column::F64(values) => values.len(),
            Column::Str(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<(String, Column)>,
}

impl Table {
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }
}

/// A table as a run leaves it behind.
#[derive(Debug)]
pub enum Kept {
    InMemory(Table),
    /// To be read when it is asked for.
    InFile(LongTable),
}

impl Kept {
    pub fn name(&self) -> &str {
        match self {
            Kept::InMemory(table) => &table.name,
            Kept::InFile(long) => long.name(),
        }
    }

    /// # Errors
    /// The file cannot be read.
    pub fn read(self) -> io::Result<Table> {
        match self {
            Kept::InMemory(table) => Ok(table),
            Kept::InFile(mut long) => long.read(),
        }
    }
}

/// All tables of one run.
#[derive(Debug, Default)]
pub struct Recording {
    pub tables: Vec<Kept>,
}

impl Recording {
    /// A table that does not grow with time, such as that of totals: those are in memory.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find_map(|kept| match kept {
            Kept::InMemory(table) if table.name == name => Some(table),
            _ => None,
        })
    }

    /// Everything, in memory.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(self) -> io::Result<Vec<Table>> {
        self.tables.into_iter().map(Kept::read).collect()
    }
}
