// SPDX-License-Identifier: BSD-3-Clause
// Quanta to symbols, one value a cycle: the residual of Lorenzo prediction in 1, 2 or 3 directions
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
  input  logic        block_restart,
  input  logic [15:0] block_x,
  input  logic [15:0] block_y,

  input  logic        in_valid,
  input  logic        in_first,      // of a block
  input  logic        in_last,
  input  logic        in_special,
  input  logic signed [28:0] in_quantum,
  input  logic [31:0] in_data,
  output logic        out_valid,
  output logic        out_first,
  output logic        out_last,
  output logic        out_special,
  output logic [9:0]  out_symbol,    // of a special value the escape
  output logic [31:0] out_data
);
  // What is known of the block before its first value comes.
  logic block_at_line_end, block_at_line_start, block_at_last_line, block_at_first_line;
  always_ff @(posedge clk) begin
    block_at_line_end <= block_x == line_last;
    block_at_line_start <= block_x == 0;
    block_at_last_line <= block_y == plane_last;
    block_at_first_line <= block_y == 0;
  end

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

  // 0: the value's place. "At" flags look one value ahead, so that no comparison is waited for.
  logic [LINE_BITS-1:0] x0;  // of longer lines, in one direction, it does not matter
  logic [15:0] y0;
  logic at_line_end0, at_line_start0, at_last_line0, at_first_line0, restart0;
  logic signed [28:0] quantum0;
  always_ff @(posedge clk) begin
    quantum0 <= in_quantum;
    restart0 <= in_first & block_restart;
    if (in_valid) begin
      if (in_first) begin
        x0 <= block_x[LINE_BITS-1:0];
        at_line_end0 <= block_at_line_end;
        at_line_start0 <= block_at_line_start;
        y0 <= block_y;
        at_last_line0 <= block_at_last_line;
        at_first_line0 <= block_at_first_line;
      end else begin
        x0 <= at_line_end0 ? LINE_BITS'(0) : x0 + 1'b1;
        at_line_end0 <= LINE_BITS'(x0 + 1'b1) == line_last[LINE_BITS-1:0];
        at_line_start0 <= at_line_end0;
        if (at_line_end0) begin
          y0 <= at_last_line0 ? 16'd0 : y0 + 16'd1;
          at_last_line0 <= y0 + 16'd1 == plane_last;
          at_first_line0 <= at_last_line0;
        end
      end
    end
  end

  // 1: the quantum that counts, and the one before it.
  logic signed [28:0] held1, before1;
  always_ff @(posedge clk) begin
    // Zeros first, so that they are a register's reset.
    if (valid[0] & special[0] & restart0) held1 <= 29'sd0;
    else if (valid[0] & ~special[0]) held1 <= quantum0;
    if (valid[0] & (restart0 | (at_line_start0 & dims != 2'd1))) before1 <= 29'sd0;
    else if (valid[0]) before1 <= held1;
  end

  // 2 and 3: along the line.
  logic signed [29:0] along_line2, along_line3;
  always_ff @(posedge clk) begin
    along_line2 <= held1 - before1;
    along_line3 <= along_line2;
  end

  // 4: against the line before, whose values are as far back as a line is long.
  logic signed [30:0] along_plane4;
  generate
    if (DIMS >= 2) begin : with_line
      logic signed [29:0] above2, above3;
      logic [LINE_BITS-1:0] x1, x2;
      logic [LINE_BITS-1:0] wait0;  // values until there is one above
      logic has_above0, uses1, uses2;
      block_ram #(.WIDTH(30), .DEPTH(1 << LINE_BITS)) lines (
        .clk(clk), .write(valid[2]), .write_addr(x2), .write_data(along_line2),
        .read_addr(x0), .read_data(above2));
      always_ff @(posedge clk) begin
        if (in_valid) begin
          if (in_first & block_restart) begin
            wait0 <= line_last[LINE_BITS-1:0];
            has_above0 <= 1'b0;
          end else begin
            wait0 <= wait0 - 1'b1;
            has_above0 <= has_above0 | wait0 == 0;
          end
        end
        x1 <= x0;
        uses1 <= has_above0 & dims != 2'd1 & ~(at_first_line0 & dims == 2'd3);
        uses2 <= uses1;
        above3 <= uses2 ? above2 : 30'sd0;
        x2 <= x1;
        along_plane4 <= along_line3 - above3;
      end
    end else begin : without_line
      always_ff @(posedge clk) along_plane4 <= 31'(along_line3);
    end
  endgenerate

  // 5: against the plane before.
  logic signed [31:0] residual5;
  generate
    if (DIMS >= 3) begin : with_plane
      logic signed [30:0] behind3, behind4;
      // Counts round in planes from a restart on: what comes round is a plane back.
      logic [PLANE_BITS:0] at0;
      (* keep, shreg_extract = "no" *) logic [PLANE_BITS-1:0] at1, at2, at3, at4;
      logic at_end0, has_behind0, uses1, uses2, uses3;
      block_ram #(.WIDTH(31), .DEPTH(1 << PLANE_BITS)) planes (
        .clk(clk), .write(valid[4]), .write_addr(at4), .write_data(along_plane4),
        .read_addr(at1), .read_data(behind3));
      always_ff @(posedge clk) begin
        if (in_valid) begin
          if (in_first & block_restart) begin
            at_end0 <= 1'b0;
            has_behind0 <= 1'b0;
          end else begin
            at_end0 <= at0 + 2 == plane_values;
            has_behind0 <= has_behind0 | at_end0;
          end
        end
        if (in_valid & ((in_first & block_restart) | at_end0)) at0 <= 0;
        else if (in_valid) at0 <= at0 + 1'b1;
        at1 <= at0[PLANE_BITS-1:0];
        uses1 <= has_behind0 & dims == 2'd3;
        at2 <= at1;
        uses2 <= uses1;
        uses3 <= uses2;
        behind4 <= uses3 ? behind3 : 31'sd0;
        at3 <= at2;
        at4 <= at3;
        residual5 <= along_plane4 - behind4;
      end
    end else begin : without_plane
      always_ff @(posedge clk) residual5 <= 32'(along_plane4);
    end
  endgenerate

  // 6: 512 + residual, where that is 1 to 1023; -512 would be the escape itself.
  always_ff @(posedge clk)
    out_symbol <= special[5] | ~(&residual5[31:9] | ~|residual5[31:9]) ? 10'd0
                                                                     : {~residual5[9], residual5[8:0]};
endmodule
