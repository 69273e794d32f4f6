//! Thrift's compact protocol, in which Parquet describes itself.

use std::collections::BTreeMap;

use crate::Error;

/// Structures lie in one another no deeper than this.
const DEEPEST: usize = 16;

/// Fields by number.
pub type Structure<'a> = BTreeMap<i64, Value<'a>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Bool,
    Integer(i64),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    Structure(Structure<'a>),
}

pub fn integer(structure: &Structure, field: i64) -> Result<i64, Error> {
    match structure.get(&field) {
        Some(Value::Integer(number)) => Ok(*number),
        _ => Err(Error::Layout("a number is missing")),
    }
}

/// A number that counts something.
pub fn count(structure: &Structure, field: i64) -> Result<usize, Error> {
    let number = integer(structure, field)?;
    usize::try_from(number).map_err(|_| Error::Layout("a count is negative"))
}

pub fn list<'s, 'a>(structure: &'s Structure<'a>, field: i64) -> Result<&'s [Value<'a>], Error> {
    match structure.get(&field) {
        Some(Value::List(values)) => Ok(values),
        _ => Err(Error::Layout("a list is missing")),
    }
}

pub fn structure<'s, 'a>(
    structure: &'s Structure<'a>,
    field: i64,
) -> Result<&'s Structure<'a>, Error> {
    structure.get(&field).ok_or(Error::Layout("a structure is missing")).and_then(as_structure)
}

pub fn as_structure<'s, 'a>(value: &'s Value<'a>) -> Result<&'s Structure<'a>, Error> {
    match value {
        Value::Structure(fields) => Ok(fields),
        _ => Err(Error::Layout("a structure is something else")),
    }
}

pub fn text<'a>(structure: &Structure<'a>, field: i64) -> Result<&'a str, Error> {
    match structure.get(&field) {
        Some(Value::Bytes(bytes)) => {
            std::str::from_utf8(bytes).map_err(|_| Error::Layout("a name is no text"))
        }
        _ => Err(Error::Layout("a name is missing")),
    }
}

/// The fields of a structure that is being written, in ascending order.
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    last: i64,
}

/// Kinds of values.
const I32: u8 = 5;
const I64: u8 = 6;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const STRUCTURE: u8 = 12;

impl Writer<'_> {
    /// Writes a structure behind what is there.
    pub fn write(out: &mut Vec<u8>, fill: impl FnOnce(&mut Writer)) {
        fill(&mut Writer { out, last: 0 });
        out.push(0);
    }

    pub fn i32(&mut self, field: i64, number: i32) {
        self.field(field, I32);
        signed(self.out, number.into());
    }

    pub fn i64(&mut self, field: i64, number: i64) {
        self.field(field, I64);
        signed(self.out, number);
    }

    pub fn text(&mut self, field: i64, text: &str) {
        self.field(field, BYTES);
        bytes(self.out, text);
    }

    pub fn structure(&mut self, field: i64, fill: impl FnOnce(&mut Writer)) {
        self.field(field, STRUCTURE);
        Writer::write(self.out, fill);
    }

    pub fn i32s(&mut self, field: i64, numbers: &[i32]) {
        self.list(field, I32, numbers.iter(), |out, &number| signed(out, number.into()));
    }

    pub fn texts(&mut self, field: i64, texts: &[&str]) {
        self.list(field, BYTES, texts.iter(), |out, text| bytes(out, text));
    }

    pub fn structures<T>(
        &mut self,
        field: i64,
        items: impl ExactSizeIterator<Item = T>,
        fill: impl Fn(&mut Writer, T),
    ) {
        self.list(field, STRUCTURE, items, |out, item| Writer::write(out, |it| fill(it, item)));
    }

    fn list<T>(
        &mut self,
        field: i64,
        kind: u8,
        items: impl ExactSizeIterator<Item = T>,
        write: impl Fn(&mut Vec<u8>, T),
    ) {
        self.field(field, LIST);
        match u8::try_from(items.len()) {
            Ok(length) if length < 15 => self.out.push(length << 4 | kind),
            _ => {
                self.out.push(0xf0 | kind);
                unsigned(self.out, items.len() as u64);
            }
        }
        for item in items {
            write(self.out, item);
        }
    }

    fn field(&mut self, field: i64, kind: u8) {
        let step = u8::try_from(field - self.last).unwrap_or(0);
        assert!((1..16).contains(&step), "fields are written in order");
        self.out.push(step << 4 | kind);
        self.last = field;
    }
}

fn bytes(out: &mut Vec<u8>, text: &str) {
    unsigned(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn unsigned(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, (number << 1 ^ number >> 63).cast_unsigned());
}

/// What is left to be read.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn structure(&mut self) -> Result<Structure<'a>, Error> {
        self.structure_at(0)
    }

    fn structure_at(&mut self, depth: usize) -> Result<Structure<'a>, Error> {
        if depth > DEEPEST {
            return Err(Error::Layout("its structures lie too deep in one another"));
        }
        let mut fields = Structure::new();
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(fields);
            }
            field = match head >> 4 {
                0 => self.signed()?,
                step => field.wrapping_add(step.into()),
            };
            // Of a truth value the kind is the value.
            let value = match head & 15 {
                1 | 2 => Value::Bool,
                kind => self.value(kind, depth)?,
            };
            fields.insert(field, value);
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value<'a>, Error> {
        Ok(match kind {
            1 | 2 => self.byte().map(|_| Value::Bool)?,
            3 => Value::Integer(self.byte()?.cast_signed().into()),
            4..=6 => Value::Integer(self.signed()?),
            7 => Value::Bytes(self.bytes(8)?),
            8 => {
                let length = self.length()?;
                Value::Bytes(self.bytes(length)?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => self.length()?,
                    length => length.into(),
                };
                // Each takes a byte at least.
                if length > self.0.len() || depth > DEEPEST {
                    return Err(Error::Short);
                }
                let values = (0..length).map(|_| self.value(head & 15, depth + 1));
                Value::List(values.collect::<Result<_, _>>()?)
            }
            12 => Value::Structure(self.structure_at(depth + 1)?),
            _ => return Err(Error::Layout("it has a value of a kind that Parquet has not")),
        })
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.bytes(1)?[0])
    }

    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Error::Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn length(&mut self) -> Result<usize, Error> {
        usize::try_from(self.unsigned()?).map_err(|_| Error::Short)
    }

    fn unsigned(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(Error::Layout("it has a number that is too long"))
    }

    /// Small numbers of either sign are short.
    fn signed(&mut self) -> Result<i64, Error> {
        let number = self.unsigned()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Structure<'_>, Error> {
        Reader(bytes).structure()
    }

    #[test]
    fn fields_are_numbered_by_steps_or_in_full() {
        // 1: true; 3: -3; 20: "ab".
        let fields = read(&[0x11, 0x25, 5, 0x08, 40, 2, b'a', b'b', 0]).unwrap();
        assert_eq!(fields[&1], Value::Bool);
        assert_eq!(integer(&fields, 3), Ok(-3));
        assert_eq!(text(&fields, 20), Ok("ab"));
        assert_eq!(count(&fields, 3), Err(Error::Layout("a count is negative")));
        assert_eq!(integer(&fields, 4), Err(Error::Layout("a number is missing")));
    }

    #[test]
    fn lists_have_a_short_and_a_long_form() {
        let short = read(&[0x19, 0x25, 2, 4, 0]).unwrap();
        let long = read(&[0x19, 0xf5, 2, 2, 4, 0]).unwrap();
        assert_eq!(list(&short, 1), Ok(&[Value::Integer(1), Value::Integer(2)][..]));
        assert_eq!(short, long);
    }

    #[test]
    fn numbers_of_64_bits_fit_and_longer_ones_do_not() {
        let mut longest = vec![0x16];
        longest.extend([255; 9]);
        let (mut fits, mut long) = (longest.clone(), longest);
        fits.extend([1, 0]);
        long.extend([255, 1, 0]);
        assert_eq!(integer(&read(&fits).unwrap(), 1), Ok(i64::MIN));
        assert_eq!(read(&long), Err(Error::Layout("it has a number that is too long")));
    }

    #[test]
    fn what_is_written_is_read() {
        let mut out = Vec::new();
        let numbers: Vec<i32> = (-8..8).collect();
        Writer::write(&mut out, |fields| {
            fields.i32(1, i32::MIN);
            fields.i64(2, i64::MAX);
            fields.text(5, &"wide ".repeat(40));
            fields.i32s(6, &numbers);
            fields.texts(7, &["one", ""]);
            fields.structures(20, 1..3_i32, |inner, number| inner.i32(1, number));
            fields.structure(21, |_| ());
        });
        let fields = read(&out).unwrap();
        assert_eq!(integer(&fields, 1), Ok(i32::MIN.into()));
        assert_eq!(integer(&fields, 2), Ok(i64::MAX));
        assert_eq!(text(&fields, 5), Ok(&"wide ".repeat(40)[..]));
        let found = numbers.iter().map(|&number| Value::Integer(number.into()));
        assert_eq!(list(&fields, 6), Ok(&found.collect::<Vec<_>>()[..]));
        assert_eq!(list(&fields, 7), Ok(&[Value::Bytes(b"one"), Value::Bytes(b"")][..]));
        let last = as_structure(&list(&fields, 20).unwrap()[1]).unwrap();
        assert_eq!(integer(last, 1), Ok(2));
        assert!(structure(&fields, 21).unwrap().is_empty());
    }

    #[test]
    fn what_promises_more_than_there_is_ends_too_soon() {
        for bytes in [
            &[0x18, 200, 1][..],
            &[0x19, 0xf5, 255, 255, 255, 255, 15],
            &[0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
            &[0x15],
            &[],
        ] {
            assert_eq!(read(bytes), Err(Error::Short), "{bytes:?}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = Error::Layout("its structures lie too deep in one another");
        assert_eq!(read(&[0x1c; 100_000]), Err(deep));
        assert_eq!(read(&[&[0x19][..], &[0x19; 100_000]].concat()), Err(Error::Short));
    }
}
