//! What a run leaves behind: named tables of typed columns of equal length.

pub(crate) mod tables;

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

/// All tables of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub tables: Vec<Table>,
}
