//! The recording of a run from those of its parts.

use std::collections::HashMap;

use ccperf_schema::lowered::Lowered;

use super::partition::Partition;
use crate::base::error::Error;
use crate::run::recording::{Column, Kept, Recording, Table};

/// Which part has a row, and which of its rows it is.
type Row = (usize, usize);

/// `ends`: by flow, the parts of its source and its destination.
///
/// # Errors
/// Samples that lie in a file cannot be read.
pub fn merge(
    scenario: &Lowered,
    partition: &Partition,
    ends: &[[usize; 2]],
    parts: Vec<Recording>,
) -> Result<Recording, Error> {
    let read = |part: Recording| part.read().map_err(Error::Samples);
    let mut parts = parts.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let owner = |port: usize| partition.part_of_port[port];
    let ports: HashMap<_, _> =
        (0..2 * scenario.links.len()).map(|port| (scenario.port_name(port), port)).collect();
    let mut tables = Vec::new();
    let names: Vec<_> = parts[0].iter().map(|table| table.name.clone()).collect();
    for (i, name) in names.iter().enumerate() {
        let tables_of: Vec<Table> =
            parts.iter_mut().map(|tables| std::mem::take(&mut tables[i])).collect();
        let order: Vec<Row> = match name.as_str() {
            "flows" => ends.iter().enumerate().map(|(flow, ends)| (ends[0], flow)).collect(),
            "links" => (0..2 * scenario.links.len()).map(|port| (owner(port), port)).collect(),
            "completions" => by_end(&tables_of, ends),
            "link_samples" | "queue_samples" => sorted(&tables_of, |table, row| {
                [number(table, "time_ns", row), number(table, "link", row)]
            }),
            "drops" => sorted(&tables_of, |table, row| {
                [ports.get(text(table, "link", row)).map_or(0, |&port| port as i64), 0]
            }),
            _ => (0..tables_of[0].rows()).map(|row| (0, row)).collect(),
        };
        tables.push(Kept::InMemory(pick(&tables_of, &order)));
    }
    Ok(Recording { tables })
}

/// Transfers by their ends, those without one last, equals in the order of flows.
fn by_end(tables: &[Table], ends: &[[usize; 2]]) -> Vec<Row> {
    let mut rows = all(tables);
    rows.retain(|&(part, row)| ends[number(&tables[part], "flow", row) as usize][0] == part);
    rows.sort_by(|&(a, i), &(b, j)| {
        let key = |part: usize, row| {
            let end = float(&tables[part], "end_ns", row);
            (if end.is_nan() { f64::INFINITY } else { end }, number(&tables[part], "flow", row))
        };
        let ((a, i), (b, j)) = (key(a, i), key(b, j));
        a.total_cmp(&b).then(i.cmp(&j))
    });
    rows
}

fn all(tables: &[Table]) -> Vec<Row> {
    let rows = tables.iter().enumerate();
    rows.flat_map(|(part, table)| (0..table.rows()).map(move |row| (part, row))).collect()
}

/// Equals stay in their order.
fn sorted(tables: &[Table], key: impl Fn(&Table, usize) -> [i64; 2]) -> Vec<Row> {
    let mut rows = all(tables);
    rows.sort_by_cached_key(|&(part, row)| key(&tables[part], row));
    rows
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|(known, _)| known == name).map(|(_, column)| column)
}

fn number(table: &Table, name: &str, row: usize) -> i64 {
    match column(table, name) {
        Some(Column::I64(values)) => values[row],
        _ => unreachable!("{} has numbers in {name}", table.name),
    }
}

fn float(table: &Table, name: &str, row: usize) -> f64 {
    match column(table, name) {
        Some(Column::F64(values)) => values[row],
        _ => unreachable!("{} has numbers in {name}", table.name),
    }
}

fn text<'a>(table: &'a Table, name: &str, row: usize) -> &'a str {
    match column(table, name) {
        Some(Column::Str(values)) => &values[row],
        _ => unreachable!("{} has words in {name}", table.name),
    }
}

/// These rows, in this order.
fn pick(tables: &[Table], order: &[Row]) -> Table {
    let columns = tables[0].columns.iter().enumerate().map(|(i, (name, column))| {
        macro_rules! picked {
            ($kind:ident) => {
                Column::$kind(
                    order
                        .iter()
                        .map(|&(part, row)| match &tables[part].columns[i].1 {
                            Column::$kind(values) => values[row].clone(),
                            _ => unreachable!("parts have the same tables"),
                        })
                        .collect(),
                )
            };
        }
        let column = match column {
            Column::I64(_) => picked!(I64),
            Column::F64(_) => picked!(F64),
            Column::Str(_) => picked!(Str),
        };
        (name.clone(), column)
    });
    Table { name: tables[0].name.clone(), columns: columns.collect() }
}
