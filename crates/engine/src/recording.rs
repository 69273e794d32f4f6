//! What a run leaves behind: named tables of typed columns of equal length.
//! `docs/design/contract.md` defines the tables.

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
