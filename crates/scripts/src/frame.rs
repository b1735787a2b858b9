//! # Frames: requests and answers on a pipe
//!
//! A length of four bytes, then that many bytes of JSON. A request is a script and its budget, the
//! answer to it a verdict.

use std::io::{self, Read, Write};

use crate::budget::FRAME_BYTES_MAX;

pub(crate) fn write(pipe: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    pipe.write_all(&length.to_le_bytes())?;
    pipe.write_all(bytes)?;
    pipe.flush()
}

/// None when the other side is gone and left nothing behind.
pub(crate) fn read(pipe: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if pipe.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    pipe.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::Error::other("a frame is longer than any that is written"));
    }
    let mut bytes = vec![0; length];
    pipe.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut pipe = Vec::new();
        write(&mut pipe, b"one").unwrap();
        write(&mut pipe, b"").unwrap();
        let mut pipe = pipe.as_slice();
        assert_eq!(read(&mut pipe).unwrap().unwrap(), b"one");
        assert_eq!(read(&mut pipe).unwrap().unwrap(), b"");
        assert_eq!(read(&mut pipe).unwrap(), None);
    }

    #[test]
    fn a_frame_cut_short_or_beyond_measure_is_refused() {
        let mut pipe = Vec::new();
        write(&mut pipe, b"one").unwrap();
        assert!(read(&mut &pipe[..pipe.len() - 1]).is_err());
        assert!(read(&mut &pipe[..2]).is_err());
        assert!(read(&mut [0xff; 8].as_slice()).is_err());
    }
}
