// SPDX-License-Identifier: BSD-3-Clause
// Quantization codes to symbols, one value a cycle: the residual of Lorenzo prediction in 1, 2 or 3 directions
// (docs/format.md, "Prediction"). It is taken direction by direction: d1 = p - p(x-1), d2 = d1 - d1(y-1),
// d3 = d2 - d2(z-1); a line of d1 and a plane of d2 are kept.
module lorenzo #(
  parameter int DIMS = 3,         // most directions
  parameter int LINE_BITS = 12,   // lines have at most 2^LINE_BITS values
  parameter int PLANE_BITS = 12   // a plane further back than 2^PLANE_BITS values is not kept
) (
  input  logic        clk,
  // Settings. Lines have at least 8 values, so that what was written is there when it is read; planes 2 lines.
  input  logic [1:0]  dims,
  input  logic [15:0] line_last,     // values of a line, less 1
  input  logic [15:0] plane_last,    // lines of a plane, less 1
  input  logic [PLANE_BITS:0] plane_values,  // 0: no block looks back as far as a plane
  // Of the block whose first value comes next; they stay from a few cycles before it until it has come.
  input  logic [15:0] block_x,
  input  logic [15:0] block_y,

  input  logic        in_valid,
  input  logic        in_first,      // of a block; only of valid ones
  input  logic        in_restart,    // the first of a block that looks back at nothing
  input  logic        in_last,
  input  logic        in_special,
  input  logic signed [28:0] in_quant_code,
  input  logic [31:0] in_data,
  output logic        out_valid,
  output logic        out_first,
  output logic        out_last,
  output logic        out_special,
  output logic [9:0]  out_symbol,    // of a special value the escape
  output logic [31:0] out_data
);
  // What is known of the block before its first value comes: what is left of its line and plane.
  logic block_at_line_start, block_at_first_line;
  logic signed [16:0] block_line_left, block_lines_left, minus_line, minus_lines;
  adder #(.WIDTH(17)) line_left (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a({1'b0, line_last}), .b({1'b0, block_x}), .sum(block_line_left));
  adder #(.WIDTH(17)) lines_left (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a({1'b0, plane_last}), .b({1'b0, block_y}), .sum(block_lines_left));
  adder #(.WIDTH(17)) minus_line_i (
    .clk(clk), .subtract(1'b1), .carry(1'b1), .a(17'd0), .b({1'b0, line_last}), .sum(minus_line));
  adder #(.WIDTH(17)) minus_lines_i (
    .clk(clk), .subtract(1'b1), .carry(1'b1), .a(17'd0), .b({1'b0, plane_last}), .sum(minus_lines));
  equality #(.WIDTH(16)) at_line_start (.clk(clk), .a(block_x), .b(16'd0), .equal(block_at_line_start));
  equality #(.WIDTH(16)) at_first_line (.clk(clk), .a(block_y), .b(16'd0), .equal(block_at_first_line));

  localparam int LATENCY = 7;
  logic [LATENCY-1:0] valid, first, last, special;
  // As registers: a shift register of so few places would take a look-up table for each bit.
  (* keep, shreg_extract = "no" *) logic [LATENCY*32-1:0] data;
  always_ff @(posedge clk) begin
    valid <= {valid[LATENCY-2:0], in_valid};
    first <= {first[LATENCY-2:0], in_first};
    last <= {last[LATENCY-2:0], in_last};
    special <= {special[LATENCY-2:0], in_special};
    data <= {data[(LATENCY-1)*32-1:0], in_data};
  end
  assign out_valid = valid[LATENCY-1];
  assign out_first = first[LATENCY-1];
  assign out_last = last[LATENCY-1];
  assign out_special = special[LATENCY-1];
  assign out_data = data[(LATENCY-1)*32+:32];

  // 0: the value's place, counted from the line's and the plane's end.
  logic [LINE_BITS-1:0] x0;  // of longer lines, in one direction, it does not matter
  logic at_line_end0, at_line_start0, at_last_line0, at_first_line0, restart0;
  logic signed [28:0] quant_code0;
  countdown #(.WIDTH(LINE_BITS)) line_place (
    .clk(clk), .load(in_first), .value(block_line_left[LINE_BITS-1:0]), .step(in_valid),
    .minus_again((LINE_BITS+1)'(minus_line)), .left(x0), .is_last(at_line_end0));
  countdown #(.WIDTH(16)) plane_line (
    .clk(clk), .load(in_first), .value(block_lines_left[15:0]), .step(in_valid & at_line_end0),
    .minus_again(minus_lines), .left(), .is_last(at_last_line0));
  always_ff @(posedge clk) begin
    quant_code0 <= in_quant_code;
    restart0 <= in_restart;
    if (in_valid) begin
      at_line_start0 <= in_first ? block_at_line_start : at_line_end0;
      if (in_first) at_first_line0 <= block_at_first_line;
      else if (at_line_end0) at_first_line0 <= at_last_line0;
    end
  end

  // 1: the quantization code that counts, and the one before it.
  logic signed [28:0] held1, before1;
  always_ff @(posedge clk) begin
    // Zeros first, so that they are a register's reset.
    if (valid[0] & special[0] & restart0) held1 <= 29'sd0;
    else if (valid[0] & ~special[0]) held1 <= quant_code0;
    if (valid[0] & (restart0 | (at_line_start0 & dims != 2'd1))) before1 <= 29'sd0;
    else if (valid[0]) before1 <= held1;
  end

  // 2 and 3: along the line.
  logic signed [29:0] along_line2, along_line3;
  adder #(.WIDTH(30)) subtract_before (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a(30'(held1)), .b(30'(before1)), .sum(along_line2));
  always_ff @(posedge clk) along_line3 <= along_line2;

  // 4: against the line before, whose values are as far back as a line is long.
  logic signed [30:0] along_plane4;
  generate
    if (DIMS >= 2) begin : with_line
      logic signed [29:0] above2, above3;
      logic [LINE_BITS-1:0] x1, x2;
      logic has_above0, is_above0, lacks1, lacks2;
      // Values until there is one above.
      countdown #(.WIDTH(LINE_BITS)) above_wait (
        .clk(clk), .load(in_restart), .value(line_last[LINE_BITS-1:0]), .step(in_valid),
        .minus_again((LINE_BITS+1)'(minus_line)), .left(), .is_last(is_above0));
      block_ram #(.WIDTH(30), .DEPTH(1 << LINE_BITS)) lines (
        .clk(clk), .write(valid[2]), .write_addr(x2), .write_data(along_line2),
        .read_addr(x0), .read_data(above2));
      adder #(.WIDTH(31)) subtract_above (
        .clk(clk), .subtract(1'b1), .carry(1'b0), .a(31'(along_line3)), .b(31'(above3)), .sum(along_plane4));
      always_ff @(posedge clk) begin
        if (in_valid) has_above0 <= ~in_restart & (has_above0 | is_above0);
        x1 <= x0;
        lacks1 <= ~has_above0 | dims == 2'd1 | (at_first_line0 & dims == 2'd3);
        lacks2 <= lacks1;
        // Zeros first, so that they are a register's reset.
        if (lacks2) above3 <= 30'sd0;
        else above3 <= above2;
        x2 <= x1;
      end
    end else begin : without_line
      always_ff @(posedge clk) along_plane4 <= 31'(along_line3);
    end
  endgenerate

  // 5: against the plane before, or nothing.
  logic signed [30:0] behind4;
  /* verilator lint_off UNUSEDSIGNAL */
  logic signed [31:0] residual5;
  /* verilator lint_on UNUSEDSIGNAL */
  logic is_small5;
  add_sub #(.WIDTH(32), .SMALL_BITS(9)) subtract_behind (
    .clk(clk), .subtract(1'b1), .carry(1'b0), .a(32'(along_plane4)), .b(32'(behind4)), .sum(residual5),
    .is_small(is_small5));
  generate
    if (DIMS >= 3) begin : with_plane
      logic signed [30:0] behind3;
      // Counts round in planes from a restart on: what comes round is a plane back.
      logic signed [PLANE_BITS+1:0] minus_plane;
      /* verilator lint_off UNUSEDSIGNAL */
      logic [PLANE_BITS:0] at0;
      /* verilator lint_on UNUSEDSIGNAL */
      (* keep, shreg_extract = "no" *) logic [PLANE_BITS-1:0] at1, at2, at3, at4;
      logic at_end0, has_behind0, no_plane, lacks1, lacks2, lacks3;
      adder #(.WIDTH(PLANE_BITS + 2)) minus_plane_i (
        .clk(clk), .subtract(1'b1), .carry(1'b0), .a('0), .b({1'b0, plane_values}), .sum(minus_plane));
      equality #(.WIDTH(PLANE_BITS + 1)) has_plane (.clk(clk), .a(plane_values), .b('0), .equal(no_plane));
      countdown #(.WIDTH(PLANE_BITS + 1), .LESS(1)) plane_place (
        .clk(clk), .load(in_restart), .value(plane_values), .step(in_valid),
        .minus_again(minus_plane), .left(at0), .is_last(at_end0));
      block_ram #(.WIDTH(31), .DEPTH(1 << PLANE_BITS)) planes (
        .clk(clk), .write(valid[4]), .write_addr(at4), .write_data(along_plane4),
        .read_addr(at1), .read_data(behind3));
      always_ff @(posedge clk) begin
        if (in_valid) has_behind0 <= ~in_restart & (has_behind0 | at_end0);
        at1 <= at0[PLANE_BITS-1:0];
        lacks1 <= ~has_behind0 | dims != 2'd3 | no_plane;
        at2 <= at1;
        lacks2 <= lacks1;
        lacks3 <= lacks2;
        if (lacks3) behind4 <= 31'sd0;
        else behind4 <= behind3;
        at3 <= at2;
        at4 <= at3;
      end
    end else begin : without_plane
      assign behind4 = 31'sd0;
    end
  endgenerate

  // 6: 512 + residual, where that is 1 to 1023; -512 is the escape itself.
  always_ff @(posedge clk) begin
    if (special[5] | ~is_small5) out_symbol <= 10'd0;
    else out_symbol <= {~residual5[9], residual5[8:0]};
  end
endmodule
