//! # What the lint finds: in files of cases, and in the pages about its codes

mod bundle;
mod cases;
mod pages;
