//! Integers of any size.

use nit_syntax::literal::{self, Integer};
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// So many digits of any radix fit into 64 bits.
const CHUNK: usize = 15;

/// An integer of any size, whatever limit Python sets on the digits that it reads.
pub fn integer<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let (negative, radix, digits) = match literal::integer(text) {
        Integer::Small(value) => return Ok(value.into_pyobject(py)?.into_any()),
        Integer::Large {
            negative,
            radix,
            digits,
        } => (negative, radix, digits),
    };
    let mut value = 0_i64.into_pyobject(py)?.into_any();
    for chunk in digits.as_bytes().chunks(CHUNK) {
        let mut part = 0_u64;
        let mut scale = 1_u64;
        for digit in chunk {
            let digit = char::from(*digit).to_digit(radix).unwrap_or_default();
            part = part * u64::from(radix) + u64::from(digit);
            scale *= u64::from(radix);
        }
        value = value.mul(scale)?.add(part)?;
    }
    if negative {
        value = value.neg()?;
    }
    Ok(value.cast_into::<PyInt>()?.into_any())
}
