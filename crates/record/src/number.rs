//! Numbers, and arrays of fields.

use hpimount_containers::io::{Cursor, Result};

use super::{Field, FixedSize, Problem, Value, Writer};

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Field for $type {
            #[inline]
            fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
                *self = cursor.$type(label)?;
                Ok(())
            }

            fn write(&self, to: &mut Writer) {
                to.number(self.to_le_bytes());
            }

            fn value(&self) -> Value {
                Value::Integer((*self).into())
            }

            fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
                *self = Stored::from_value(value)?;
                Ok(())
            }
        }

        impl FixedSize for $type {
            const SIZE: usize = size_of::<Self>();
        }

        impl Stored for $type {
            fn to_number(self) -> i64 {
                self.into()
            }

            fn from_value(value: &Value) -> std::result::Result<Self, Problem> {
                let number = value.integer().ok_or_else(|| Problem::needs(value, "a whole number"))?;
                Self::from_number(number).ok_or_else(|| {
                    Problem::needs(value, format_args!("from {} to {}", Self::MIN, Self::MAX))
                })
            }

            fn from_number(number: i64) -> Option<Self> {
                number.try_into().ok()
            }
        }
    )*};
}

integers! { u8 i8 u16 i16 u32 i32 }

/// A whole number as it is stored.
pub trait Stored: Field + FixedSize + Copy + Default {
    /// Returns the number.
    fn to_number(self) -> i64;

    /// Returns the number, if it fits.
    fn from_number(number: i64) -> Option<Self>;

    /// Converts a number from an edited file.
    ///
    /// # Errors
    /// Returns an error if it is none, or does not fit.
    fn from_value(value: &Value) -> std::result::Result<Self, Problem>;
}

impl Field for f32 {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        *self = cursor.f32(label)?;
        Ok(())
    }

    fn write(&self, to: &mut Writer) {
        to.number(self.to_le_bytes());
    }

    fn value(&self) -> Value {
        Value::Float(*self)
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        *self =
            float(value).ok_or_else(|| Problem::needs(value, "a number that fits into 32 bits"))?;
        Ok(())
    }
}

/// Returns the nearest 32-bit float of a number or a text such as `0.5`, `NaN`,
/// `-Infinity` or `0x7FC00001` (its bits). `None` for other values and overflow.
pub fn float(value: &Value) -> Option<f32> {
    if let Value::Float(number) = value {
        return Some(*number);
    }
    if let Value::Text(text) = value {
        let bits = text
            .strip_prefix("NaN:")
            .or_else(|| text.strip_prefix("0x"));
        if let Some(bits) = bits {
            return u32::from_str_radix(bits, 16).ok().map(f32::from_bits);
        }
        match &**text {
            "NaN" => return Some(f32::NAN),
            "Infinity" => return Some(f32::INFINITY),
            "-Infinity" => return Some(f32::NEG_INFINITY),
            _ => {}
        }
    }
    let number = value.number()? as f32;
    number.is_finite().then_some(number)
}

impl FixedSize for f32 {
    const SIZE: usize = 4;
}

impl<F: Field, const N: usize> Field for [F; N] {
    fn read(&mut self, cursor: &mut Cursor<'_>, label: &'static str) -> Result<()> {
        self.iter_mut()
            .try_for_each(|field| field.read(cursor, label))
    }

    fn write(&self, to: &mut Writer) {
        self.iter().for_each(|field| field.write(to));
    }

    fn value(&self) -> Value {
        Value::List(self.iter().map(|field| field.value()).collect())
    }

    fn set(&mut self, value: &Value) -> std::result::Result<(), Problem> {
        let values = match value {
            Value::List(values) if values.len() == N => values,
            other => return Err(Problem::needs(other, format_args!("a list of {N}"))),
        };
        for (index, (field, value)) in self.iter_mut().zip(values).enumerate() {
            let set = field.set(value);
            set.map_err(|problem| problem.within(&format!("[{index}]")))?;
        }
        Ok(())
    }
}

impl<F: FixedSize, const N: usize> FixedSize for [F; N] {
    const SIZE: usize = F::SIZE * N;
}
