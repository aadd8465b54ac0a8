// SPDX-License-Identifier: BSD-3-Clause
// What stands beside the codes, entry by entry: a value and, where it has no quantization code, how many equal ones
// follow it (docs/format.md, "Symbols"). Where an entry ends depends on what the quantizer says, 20 cycles and more
// later. So every half of a value's size may be where one begins: the quantizer takes them all, one a cycle, and those
// that turn out to lie inside an entry are passed over.
module side_entries #(
    parameter int BLOCK_BITS = 16
) (
    input  logic                  clk,
    input  logic                  rst,
    input  neve_pkg::quantizer_settings_t settings,  // constant while a block is decoded
    // A block's bytes, in halves of a value; nothing of the block before may be under way.
    input  logic                  start,
    input  logic [BLOCK_BITS+2:0] side_bytes,
    input  logic                  side_valid,
    output logic                  side_ready,
    input  logic [          15:0] side_half,
    output logic                  entry_valid,
    input  logic                  entry_ready,
    output logic                  entry_special,  // has no quantization code
    output logic [          31:0] entry_value,
    output logic [          28:0] entry_quant_code,
    output logic [          15:0] entry_run,      // where special
    output logic                  done,           // every byte belongs to an entry that has been taken
    output logic                  ended           // no entry comes any more
);
  // Halves given to the quantizer whose entries have not been taken: no more than make DEPTH entries.
  localparam int DEPTH = 16;
  localparam int U = $clog2(2 * DEPTH) + 1;
  logic [BLOCK_BITS+1:0] left;  // halves to come
  logic [U-1:0] waiting;
  logic has_left, has_room, takes, gives;
  assign side_ready = has_left && has_room;
  assign takes = side_valid && side_ready;
  assign gives = entry_valid && entry_ready;

  // A value from every half on, as soon as the next one is there.
  logic has_half, candidate_valid;
  logic [15:0] half;
  logic [31:0] candidate;
  always_ff @(posedge clk) begin
    candidate_valid <= takes && has_half;
    if (takes) begin
      half <= side_half;
      candidate <= {side_half, half};
      has_half <= 1'b1;
      left <= left - (BLOCK_BITS + 2)'(1);
      has_left <= left != (BLOCK_BITS + 2)'(1);
    end
    waiting <= waiting + U'(takes) - (gives ? (entry_special ? U'(3) : U'(2)) : U'(0));
    has_room <= waiting < U'(2 * DEPTH - 2);
    if (start) begin
      left <= side_bytes[BLOCK_BITS+2:1];
      has_left <= side_bytes[BLOCK_BITS+2:1] != '0;
    end
    if (start || rst) begin
      has_half <= 1'b0;
      waiting <= '0;
    end
    if (rst) begin
      has_left <= 1'b0;
      candidate_valid <= 1'b0;
    end
  end

  logic tried, has_no_quant_code;
  logic signed [28:0] quant_code;
  logic [31:0] value;
  quantizer quantizer (
      .clk,
      .rst,
      .settings,
      .in_valid(candidate_valid),
      .in_data(candidate),
      .out_valid(tried),
      .out_special(has_no_quant_code),
      .out_quant_code(quant_code),
      .out_data(value)
  );

  // Which of them begin an entry. The high half of the one behind a special value is its run.
  logic [1:0] to_pass;  // halves of the entry at hand that are still to come
  logic is_run, found, found_special;
  logic [31:0] found_value;
  logic [28:0] found_rest;
  always_ff @(posedge clk) begin
    found <= 1'b0;
    if (tried) begin
      is_run <= 1'b0;
      if (to_pass != '0) begin
        to_pass <= to_pass - 2'd1;
      end else begin
        found <= !has_no_quant_code;
        found_special <= has_no_quant_code;
        found_value <= value;
        found_rest <= quant_code;
        is_run <= has_no_quant_code;
        to_pass <= has_no_quant_code ? 2'd2 : 2'd1;
      end
      if (is_run) begin
        found <= 1'b1;
        found_rest <= 29'(value[31:16]);
      end
    end
    if (start || rst) begin
      to_pass <= '0;
      is_run <= 1'b0;
      found <= 1'b0;
    end
  end

  logic [28:0] entry_rest;
  /* verilator lint_off UNUSEDSIGNAL */
  logic queue_has_room;  // always, when an entry comes
  /* verilator lint_on UNUSEDSIGNAL */
  symbol_queue #(
      .WIDTH(62),
      .DEPTH(DEPTH)
  ) entries (
      .clk,
      .rst(rst || start),
      .in_valid(found),
      .in_ready(queue_has_room),
      .in_data({found_special, found_rest, found_value}),
      .out_valid(entry_valid),
      .out_ready(entry_ready),
      .out_data({entry_special, entry_rest, entry_value})
  );
  assign entry_quant_code = entry_rest;
  assign entry_run = entry_rest[15:0];

  // All halves are through when as many values came out as went in.
  logic [5:0] inside_quantizer;
  logic drained;
  always_ff @(posedge clk) begin
    inside_quantizer <= inside_quantizer + 6'(candidate_valid) - 6'(tried);
    drained <= !has_left && inside_quantizer == '0 && !candidate_valid && !found;
    if (start || rst) inside_quantizer <= '0;
    if (start || rst) drained <= 1'b0;
  end
  logic is_odd;
  always_ff @(posedge clk) if (start) is_odd <= side_bytes[0];
  assign done = !has_left && waiting == '0 && !is_odd;
  assign ended = drained && !entry_valid;
endmodule
