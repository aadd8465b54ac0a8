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

  logic [5:0] valid, first, last, special;
  // As registers: a shift register of so few places would take a look-up table for each bit.
  (* keep, shreg_extract = "no" *) logic [6*32-1:0] data;
  always_ff @(posedge clk) begin
    valid <= {valid[4:0], in_valid};
    first <= {first[4:0], in_first};
    last <= {last[4:0], in_last};
    special <= {special[4:0], in_special};
    data <= {data[5*32-1:0], in_data};
  end
  assign out_valid = valid[5];
  assign out_first = first[5];
  assign out_last = last[5];
  assign out_special = special[5];
  assign out_data = data[5*32+:32];

  // 0: the value's place. "At" flags look one value ahead, so that no comparison is waited for.
  logic [15:0] x0, y0;
  logic at_line_end0, at_line_start0, at_last_line0, at_first_line0, restart0;
  logic signed [28:0] quantum0;
  always_ff @(posedge clk) begin
    quantum0 <= in_quantum;
    restart0 <= in_first & block_restart;
    if (in_valid) begin
      if (in_first) begin
        x0 <= block_x;
        at_line_end0 <= block_at_line_end;
        at_line_start0 <= block_at_line_start;
        y0 <= block_y;
        at_last_line0 <= block_at_last_line;
        at_first_line0 <= block_at_first_line;
      end else begin
        x0 <= at_line_end0 ? 16'd0 : x0 + 16'd1;
        at_line_end0 <= x0 + 16'd1 == line_last;
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
    if (valid[0]) begin
      held1 <= ~special[0] ? quantum0 : restart0 ? 29'sd0 : held1;
      before1 <= restart0 | (at_line_start0 & dims != 2'd1) ? 29'sd0 : held1;
    end
  end

  // 2: along the line.
  logic signed [29:0] along_line2;
  always_ff @(posedge clk) along_line2 <= held1 - before1;

  // 3: against the line before, whose values are as far back as a line is long.
  logic signed [30:0] along_plane3;
  generate
    if (DIMS >= 2) begin : with_line
      logic signed [29:0] lines [0:(1<<LINE_BITS)-1];
      logic signed [29:0] above1, above2;
      logic [LINE_BITS-1:0] x1, x2;
      logic [15:0] wait0;  // values until there is one above
      logic has_above0, uses1;
      always_ff @(posedge clk) begin
        if (in_valid) begin
          if (in_first & block_restart) begin
            wait0 <= line_last;
            has_above0 <= 1'b0;
          end else begin
            wait0 <= wait0 - 16'd1;
            has_above0 <= has_above0 | wait0 == 0;
          end
        end
        above1 <= lines[x0[LINE_BITS-1:0]];
        x1 <= x0[LINE_BITS-1:0];
        uses1 <= has_above0 & dims != 2'd1 & ~(at_first_line0 & dims == 2'd3);
        above2 <= uses1 ? above1 : 30'sd0;
        x2 <= x1;
        if (valid[2]) lines[x2] <= along_line2;
        along_plane3 <= along_line2 - above2;
      end
    end else begin : without_line
      always_ff @(posedge clk) along_plane3 <= 31'(along_line2);
    end
  endgenerate

  // 4: against the plane before.
  logic signed [31:0] residual4;
  generate
    if (DIMS >= 3) begin : with_plane
      logic signed [30:0] planes [0:(1<<PLANE_BITS)-1];
      logic signed [30:0] behind2, behind3;
      // Counts round in planes from a restart on: what comes round is a plane back.
      logic [PLANE_BITS:0] at0;
      logic [PLANE_BITS-1:0] at1, at2, at3;
      logic at_end0, has_behind0, uses1, uses2;
      always_ff @(posedge clk) begin
        if (in_valid) begin
          if (in_first & block_restart) begin
            at0 <= 0;
            at_end0 <= 1'b0;
            has_behind0 <= 1'b0;
          end else begin
            at0 <= at_end0 ? 0 : at0 + 1'b1;
            at_end0 <= at0 + 2 == plane_values;
            has_behind0 <= has_behind0 | at_end0;
          end
        end
        at1 <= at0[PLANE_BITS-1:0];
        uses1 <= has_behind0 & dims == 2'd3;
        behind2 <= planes[at1];
        at2 <= at1;
        uses2 <= uses1;
        behind3 <= uses2 ? behind2 : 31'sd0;
        at3 <= at2;
        if (valid[3]) planes[at3] <= along_plane3;
        residual4 <= along_plane3 - behind3;
      end
    end else begin : without_plane
      always_ff @(posedge clk) residual4 <= 32'(along_plane3);
    end
  endgenerate

  // 5: 512 + residual, where that is 1 to 1023; -512 would be the escape itself.
  always_ff @(posedge clk)
    out_symbol <= special[4] | ~(&residual4[31:9] | ~|residual4[31:9]) ? 10'd0
                                                                     : {~residual4[9], residual4[8:0]};
endmodule
