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
  localparam int OFFLINE_BOOKS = 16;

  // A block's book, as its header says it.
  localparam logic [1:0] BOOK_KEPT = 2'd0;
  localparam logic [1:0] BOOK_REBUILT = 2'd1;
  localparam logic [1:0] BOOK_OFFLINE = 2'd2;

  // Rules of book_choice, numbered as neve::BookRule.
  localparam logic [1:0] RULE_EXACT_COST = 2'd0;
  localparam logic [1:0] RULE_CHI = 2'd1;
  localparam logic [1:0] RULE_ALWAYS = 2'd2;
  localparam logic [1:0] RULE_NEVER = 2'd3;
endpackage
