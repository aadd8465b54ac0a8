// SPDX-License-Identifier: BSD-3-Clause
// Canonical codes back to symbols, a bit a cycle. A book comes as the lengths of symbols 0 to 1023; its symbols are put
// in order of their codes, so that what is left to know of a length is where its codes end and how far they lie from
// their place in that order. About 2,090 cycles for a book.
module code_decoder (
    input  logic                             clk,
    input  logic                             rst,
    // A book: `load`, then 1024 lengths; not while symbols are decoded.
    input  logic                             load,
    input  logic                             length_valid,
    output logic                             length_ready,
    input  logic [ neve_pkg::LENGTH_BITS-1:0] length,
    output logic                             loaded,
    // Codes of a block, the first bit lowest; what is left of the word before is dropped.
    input  logic                             start,
    input  logic [                     24:0] symbols,       // of the block
    input  logic                             word_valid,
    output logic                             word_ready,
    input  logic [                     31:0] word,
    output logic                             symbol_valid,
    input  logic                             symbol_ready,
    output logic [ neve_pkg::SYMBOL_BITS-1:0] symbol,
    output logic                             done,          // all symbols of the block have been given
    output logic                             failed         // bits that are no code; until the next start
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int L = neve_pkg::LENGTH_BITS;
  localparam int B = neve_pkg::MAX_CODE_BITS;
  localparam logic [L-1:0] LONGEST = L'(B);

  localparam logic [2:0] IDLE = 3'd0;
  localparam logic [2:0] CLEAR = 3'd1;
  localparam logic [2:0] TAKE = 3'd2;
  localparam logic [2:0] SUM = 3'd3;
  localparam logic [2:0] PLACE = 3'd4;
  logic [2:0] state;

  // --- book ------------------------------------------------------------------------------------------------------
  logic [S:0] at;  // symbol or, with CLEAR and SUM, length
  logic [L-2:0] row;
  assign row = at[L-2:0];

  // How many codes of each length, that of 16 at 0; then where the next of them is placed.
  logic [S:0] counts[1 << (L - 1)];
  logic [L-2:0] count_row;
  logic [S:0] count;
  logic [1:0] placed_valid;
  logic [S-1:0] placed_symbol[2];
  logic [L-1:0] placed_length;
  assign count_row = state == TAKE ? length[L-2:0] : state == PLACE ? placed_length[L-2:0] : row;
  assign count = counts[count_row];
  logic takes, places;
  assign length_ready = state == TAKE;
  assign takes = length_ready && length_valid && length != '0;
  assign places = placed_valid[1] && placed_length != '0;
  logic [S:0] order;  // codes shorter than those of the length at hand
  always_ff @(posedge clk) begin
    if (state == CLEAR) counts[row] <= '0;
    else if (state == SUM) counts[row] <= order;
    else if (takes || places) counts[count_row] <= count + (S + 1)'(1);
  end

  block_ram #(
      .WIDTH(L),
      .DEPTH(neve_pkg::SYMBOLS)
  ) lengths (
      .clk,
      .write(length_ready && length_valid),
      .write_addr(at[S-1:0]),
      .write_data(length),
      .read_addr(at[S-1:0]),
      .read_data(placed_length)
  );

  // Of each length, that of 16 at 0: the code behind its last, and what leads from a code to its place in the order.
  logic [B:0] ends[1 << (L - 1)];
  logic [S-1:0] shifts[1 << (L - 1)];
  logic [B:0] first, code_end;
  assign code_end = first + (B + 1)'(count);
  always_ff @(posedge clk) begin
    if (state == SUM) begin
      ends[row] <= code_end;
      shifts[row] <= order[S-1:0] - first[S-1:0];
    end
  end

  always_ff @(posedge clk) begin
    placed_valid <= {placed_valid[0], 1'b0};
    placed_symbol[0] <= at[S-1:0];
    placed_symbol[1] <= placed_symbol[0];
    unique case (state)
      CLEAR: begin
        at <= at + (S + 1)'(1);
        if (row == '1) begin
          at <= '0;
          state <= TAKE;
        end
      end
      TAKE: begin
        if (length_valid) begin
          at <= at + (S + 1)'(1);
          if (&at[S-1:0]) begin
            at <= (S + 1)'(1);
            state <= SUM;
          end
        end
        order <= '0;
        first <= '0;
      end
      SUM: begin
        order <= order + count;
        first <= code_end << 1;
        at <= at + (S + 1)'(1);
        if (row == '0) begin
          at <= '0;
          state <= PLACE;
        end
      end
      PLACE: begin
        placed_valid[0] <= !at[S];
        if (!at[S]) at <= at + (S + 1)'(1);
        else if (placed_valid == '0) begin
          loaded <= 1'b1;
          state <= IDLE;
        end
      end
      default: ;
    endcase
    if (load) begin
      loaded <= 1'b0;
      at <= '0;
      state <= CLEAR;
    end
    if (rst) begin
      loaded <= 1'b0;
      placed_valid <= '0;
      state <= IDLE;
    end
  end

  // --- codes ---------------------------------------------------------------------------------------------------
  logic runs;
  logic [24:0] left;  // symbols to find
  logic [31:0] bits;
  logic [5:0] bit_count;
  logic [B-1:0] code;  // so far
  logic [L-1:0] code_length;  // with the bit at hand
  logic [B:0] tried;
  logic [B:0] tried_end;
  logic [S-1:0] tried_shift;
  logic found, steps;
  assign tried = {code, bits[0]};
  assign tried_end = ends[code_length[L-2:0]];
  assign tried_shift = shifts[code_length[L-2:0]];
  assign found = tried < tried_end;

  // Symbols on their way, and those that wait: no more than the queue holds.
  localparam int QUEUE = 4;
  logic [2:0] under_way;
  logic [1:0] looked_up;
  logic [S-1:0] place, looked_up_symbol;
  logic looks_up;
  logic gives;
  assign gives = symbol_valid && symbol_ready;
  /* verilator lint_off UNUSEDSIGNAL */
  logic has_room;  // always, when a symbol comes
  /* verilator lint_on UNUSEDSIGNAL */
  symbol_queue #(
      .DEPTH(QUEUE)
  ) waiting (
      .clk,
      .rst(rst || start),
      .in_valid(looked_up[1]),
      .in_ready(has_room),
      .in_data(looked_up_symbol),
      .out_valid(symbol_valid),
      .out_ready(symbol_ready),
      .out_data(symbol)
  );

  block_ram #(
      .WIDTH(S),
      .DEPTH(neve_pkg::SYMBOLS)
  ) ordered (
      .clk,
      .write(places),
      .write_addr(count[S-1:0]),
      .write_data(placed_symbol[1]),
      .read_addr(place),
      .read_data(looked_up_symbol)
  );

  assign steps = runs && left != '0 && bit_count != '0 && under_way != 3'(QUEUE) && !failed;
  assign word_ready = runs && left != '0 && bit_count == '0;
  assign done = runs && left == '0 && under_way == '0;

  always_ff @(posedge clk) begin
    looks_up <= 1'b0;
    looked_up <= {looked_up[0], looks_up};
    if (word_ready && word_valid) begin
      bits <= word;
      bit_count <= 6'd32;
    end
    if (steps) begin
      bits <= bits >> 1;
      bit_count <= bit_count - 6'd1;
      code <= tried[B-1:0];
      code_length <= code_length + L'(1);
      place <= tried[S-1:0] + tried_shift;
      if (found) begin
        looks_up <= 1'b1;
        left <= left - 25'd1;
        code <= '0;
        code_length <= L'(1);
      end else if (code_length == LONGEST) begin
        failed <= 1'b1;
      end
    end
    under_way <= under_way + 3'(steps && found) - 3'(gives);
    if (start) begin
      runs <= 1'b1;
      left <= symbols;
      bit_count <= '0;
      code <= '0;
      code_length <= L'(1);
      failed <= 1'b0;
    end
    if (start || rst) begin
      looks_up <= 1'b0;
      looked_up <= '0;
      under_way <= '0;
    end
    if (rst) begin
      runs <= 1'b0;
      failed <= 1'b0;
    end
  end
endmodule
