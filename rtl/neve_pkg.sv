// SPDX-License-Identifier: BSD-3-Clause
// What the modules of the engine agree on (docs/format.md, "Stream").
package neve_pkg;
  localparam int SYMBOLS = 1024;
  localparam int SYMBOL_BITS = 10;
  localparam int ESCAPE = 0;   // the symbol whose value stands in the side stream
  localparam int ZERO = 512;   // the symbol of residual 0
  localparam int MAX_CODE_BITS = 16;
  localparam int LENGTH_BITS = 5;
  localparam int ENTRY_BITS = LENGTH_BITS + MAX_CODE_BITS;  // {length, code}; code bit 0 leaves first
  localparam int COUNT_BITS = 24;
  localparam int OFFLINE_CODEBOOKS = 16;

  // A block's codebook, as its header says it.
  localparam logic [1:0] CODEBOOK_KEPT = 2'd0;
  localparam logic [1:0] CODEBOOK_REBUILT = 2'd1;
  localparam logic [1:0] CODEBOOK_OFFLINE = 2'd2;

  // Rules of codebook_choice, numbered as neve::CodebookRule.
  localparam logic [1:0] RULE_EXACT_COST = 2'd0;
  localparam logic [1:0] RULE_CHI = 2'd1;
  localparam logic [1:0] RULE_ALWAYS = 2'd2;
  localparam logic [1:0] RULE_NEVER = 2'd3;

  // What is wrong with a stream that the decoder reads.
  localparam logic [3:0] NOT_A_STREAM = 4'd1;     // no "NEVS" in front
  localparam logic [3:0] VERSION = 4'd2;
  localparam logic [3:0] HEADER = 4'd3;           // a field has a value that the format does not allow
  localparam logic [3:0] HEADER_CHECKSUM = 4'd4;
  localparam logic [3:0] NOT_BUILT_FOR = 4'd5;    // float64; raw, extra bits; longer blocks, lines, planes; a fill value below 2^-126
  localparam logic [3:0] BLOCK_HEADER = 4'd6;     // mark, flags, or counts that do not fit
  localparam logic [3:0] BLOCK_CHECKSUM = 4'd7;
  localparam logic [3:0] CODEBOOK = 4'd8;         // lengths of no complete code; none yet
  localparam logic [3:0] CODES = 4'd9;            // codes or side stream do not fit the block's values
  localparam logic [3:0] ENDS_EARLY = 4'd10;
  localparam logic [3:0] VALUES = 4'd11;          // more or fewer than the shape's, or bytes behind the last block
  localparam logic [3:0] STEP = 4'd12;            // no number, or none that quantizer.sv takes

  // A step S and I = 1 / S, as quantizer.sv and dequantizer.sv want to know them. Significands have their leading one.
  typedef struct packed {
    logic has_step;             // without one nothing has a quantization code
    logic [23:0] inverse;       // significand of I
    logic [8:0] inverse_shift;  // 277 - exponent of I
    logic [23:0] significand;   // of S
    logic [7:0] exponent;
    logic is_power;             // exponents of S and I add up to 254, not 253
  } step_settings_t;

  // What a quantizer works by. tests/rtl/settings_port.hpp knows the places of its fields.
  typedef struct packed {
    step_settings_t step;
    logic has_fill;
    logic [31:0] fill;
    // floor(2 t / ulp) for values of the step's exponent - 2 + limit_addr; all 32 are written one by one.
    logic limit_write;
    logic [4:0] limit_addr;
    logic [27:0] limit_data;
  } quantizer_settings_t;
endpackage
