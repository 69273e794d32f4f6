//! Samples of many things, of which only those rows are held that may say something new: who has not begun,
//! is silent or has ended has the same values at each point, however many there are.

use super::{Column, Table};

/// A row for each thing at each point in time, in this order: what the table has when it is read.
#[derive(Debug)]
pub(crate) struct FullGrid {
    /// Between points, the first of which is 0.
    pub(crate) interval_ns: i64,
    pub(crate) points: usize,
    /// What identifies each in the second column.
    pub(crate) things: Vec<i64>,
}

impl FullGrid {
    pub(crate) fn rows(&self) -> usize {
        self.points * self.things.len()
    }

    /// The table with all rows: those that are missing are as the last one of the same thing.  The first point's
    /// are there; the first columns are time and thing.
    pub(crate) fn fill(&self, table: Table) -> Table {
        if table.rows() == self.rows() {
            return table;
        }
        let sources = self.sources(&table);
        let mut columns = table.columns.into_iter();
        let mut filled = Table { name: table.name, columns: Vec::with_capacity(columns.len()) };
        if let (Some((time, _)), Some((thing, _))) = (columns.next(), columns.next()) {
            let times = (0..self.points as i64).map(|point| point * self.interval_ns);
            let times = times.flat_map(|time| self.things.iter().map(move |_| time)).collect();
            filled.columns.push((time, Column::I64(times)));
            filled.columns.push((thing, Column::I64(self.things.repeat(self.points))));
        }
        filled.columns.extend(columns.map(|(name, column)| (name, column.select(&sources))));
        filled
    }

    /// For each row of the whole the row that has its values.
    fn sources(&self, table: &Table) -> Vec<usize> {
        let [(_, Column::I64(times)), (_, Column::I64(things)), ..] = &table.columns[..] else {
            unreachable!("samples begin with time and thing")
        };
        let mut held = times.iter().zip(things).enumerate().peekable();
        let mut latest = vec![0; self.things.len()];
        let mut sources = Vec::with_capacity(self.rows());
        for point in 0..self.points as i64 {
            let time = point * self.interval_ns;
            for (thing, latest) in self.things.iter().zip(&mut latest) {
                if let Some((row, _)) = held.next_if(|&(_, row)| row == (&time, thing)) {
                    *latest = row;
                }
                sources.push(*latest);
            }
        }
        sources
    }
}

impl Column {
    /// The values of these rows, one after the other.
    fn select(self, rows: &[usize]) -> Self {
        fn selected<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        match self {
            Column::I64(values) => Column::I64(selected(&values, rows)),
            Column::F64(values) => Column::F64(selected(&values, rows)),
            Column::Str(values) => Column::Str(selected(&values, rows)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(i64, i64, f64)]) -> Table {
        let column = |of: fn(&(i64, i64, f64)) -> i64| Column::I64(rows.iter().map(of).collect());
        let values = Column::F64(rows.iter().map(|row| row.2).collect());
        let columns =
            [("time", column(|row| row.0)), ("thing", column(|row| row.1)), ("value", values)];
        let columns = columns.map(|(name, column)| (name.to_string(), column));
        Table { name: "samples".to_string(), columns: columns.into() }
    }

    #[test]
    fn a_row_that_is_missing_is_as_the_last_one_of_the_same_thing() {
        let grid = FullGrid { interval_ns: 5, points: 4, things: vec![2, 7] };
        let held = [(0, 2, 0.5), (0, 7, 1.0), (5, 7, 2.0), (15, 2, 3.0)];
        let all = [
            (0, 2, 0.5),
            (0, 7, 1.0),
            (5, 2, 0.5),
            (5, 7, 2.0),
            (10, 2, 0.5),
            (10, 7, 2.0),
            (15, 2, 3.0),
            (15, 7, 2.0),
        ];
        assert_eq!(grid.fill(table(&held)), table(&all));
        assert_eq!(grid.fill(table(&all)), table(&all));
    }

    #[test]
    fn where_nothing_is_sampled_there_are_no_rows() {
        for (points, things) in [(0, vec![1]), (3, vec![])] {
            let grid = FullGrid { interval_ns: 5, points, things };
            assert_eq!(grid.fill(table(&[])), table(&[]));
        }
    }
}
