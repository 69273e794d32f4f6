#![cfg_attr(fuzzing, no_main)]

ccperf_fuzz::fuzz_json!(ccperf_fuzz::settings);
