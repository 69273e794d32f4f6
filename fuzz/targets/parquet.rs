#![cfg_attr(fuzzing, no_main)]

ccperf_fuzz::fuzz!(ccperf_fuzz::parquet);
