#![cfg_attr(fuzzing, no_main)]

ccperf_fuzz::fuzz!(ccperf_fuzz::user_code);
