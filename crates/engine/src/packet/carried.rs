//! A path that a packet carries: the ports of the switches on its way, where each choice lasts.  So a hop
//! reads what is on the packet, and not the tables of its switch.

/// What is left of a path: sixteen bits a port, the next one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried(pub [u32; 3]);

impl Carried {
    const LONGEST: usize = 6;

    /// The path over these ports; none if they are too many, or one has too large a number.
    pub fn over(ports: impl Iterator<Item = u32>) -> Option<Carried> {
        let mut words = [0; 3];
        for (hop, port) in ports.enumerate() {
            if hop == Carried::LONGEST || port > u32::from(u16::MAX) {
                return None;
            }
            words[hop / 2] |= port << (16 * (hop % 2));
        }
        Some(Carried(words))
    }

    /// The next port.
    #[inline(always)] // on every hop
    pub fn next(self) -> u32 {
        self.0[0] & 0xffff
    }

    /// Behind the next port.
    #[inline(always)] // on every hop
    pub fn rest(self) -> Carried {
        let [a, b, c] = self.0;
        Carried([a >> 16 | b << 16, b >> 16 | c << 16, c >> 16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_in_their_order() {
        let ports = [65_535, 0, 7, 9, 65_535, 1];
        let mut path = Carried::over(ports.into_iter()).unwrap();
        for port in ports {
            assert_eq!(path.next(), port);
            path = path.rest();
        }
        assert_eq!(path, Carried::default());
    }

    #[test]
    fn a_path_that_does_not_fit_is_none() {
        assert_eq!(Carried::over([1; 7].into_iter()), None);
        assert_eq!(Carried::over([65_536].into_iter()), None);
        assert!(Carried::over([1; 6].into_iter()).is_some());
    }
}
