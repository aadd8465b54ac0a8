// SPDX-License-Identifier: BSD-3-Clause
// Residuals back to quantization codes, a value a cycle: what lorenzo.sv takes apart direction by direction is added up
// again,
//   d2 = r + d2(z-1), d1 = d2 + d1(y-1), p = d1 + p(x-1),
// all modulo 2^32. Only the last sum waits for the value before. Values whose quantization code is known go through
// the same adders with nothing added; what the memories keep is the differences of what came out, whatever way it came.
module lorenzo_inverse #(
    parameter int LINE_BITS  = 12,
    parameter int PLANE_BITS = 12
) (
    input  logic                  clk,
    input  logic                  rst,            // of the stream: the next value is its first
    // Settings. Where lines have fewer than 8 values, these come 8 cycles apart at least.
    input  logic [           1:0] dims,
    input  logic [ LINE_BITS-1:0] line_last,      // values of a line, less 1
    input  logic [          15:0] plane_last,     // lines of a plane, less 1
    input  logic [  PLANE_BITS:0] plane_values,   // of a plane
    input  logic                  restart,        // nothing that came before counts; not with a value
    input  logic                  in_valid,
    input  logic                  in_known,       // its quantization code is given
    input  logic                  in_held,        // it holds that of the value before
    input  logic [          28:0] in_number,      // residual or quantization code; 0 where it is held
    output logic                  out_valid,
    output logic [          31:0] out_quant_code
);
  // --- the place of the next value ---------------------------------------------------------------------------------
  // "At" flags look one value ahead, so that no comparison is waited for.
  logic [LINE_BITS-1:0] x, line_before_last, line_wait;
  logic [15:0] y;
  logic [PLANE_BITS-1:0] at, plane_wait;
  logic [PLANE_BITS:0] plane_before_last;
  logic is_single, is_single_plane;
  logic at_line_start, at_line_end, at_first_line, at_last_line, at_plane_end, is_first, has_line, has_plane;
  always_ff @(posedge clk) begin
    line_before_last <= line_last - LINE_BITS'(1);
    is_single <= line_last == '0;
    plane_before_last <= plane_values - (PLANE_BITS + 1)'(2);
    is_single_plane <= plane_values == (PLANE_BITS + 1)'(1);
    at_last_line <= y == plane_last;
    if (in_valid) begin
      x <= at_line_end ? '0 : x + LINE_BITS'(1);
      at_line_end <= is_single || (!at_line_end && x == line_before_last);
      at_line_start <= at_line_end;
      if (at_line_end) begin
        y <= at_last_line ? '0 : y + 16'd1;
        at_first_line <= at_last_line;
      end
      at <= at_plane_end ? '0 : at + PLANE_BITS'(1);
      at_plane_end <= is_single_plane || (!at_plane_end && {1'b0, at} == plane_before_last);
      is_first <= 1'b0;
      line_wait <= line_wait - LINE_BITS'(1);
      has_line <= has_line || line_wait == '0;
      plane_wait <= plane_wait - PLANE_BITS'(1);
      has_plane <= has_plane || plane_wait == '0;
    end
    if (restart) begin
      is_first <= 1'b1;
      line_wait <= line_last;
      has_line <= 1'b0;
      plane_wait <= PLANE_BITS'(plane_values - (PLANE_BITS + 1)'(1));
      has_plane <= 1'b0;
    end
    if (rst) begin
      x <= '0;
      at_line_start <= 1'b1;
      at_line_end <= line_last == '0;
      y <= '0;
      at_first_line <= 1'b1;
      at <= '0;
      at_plane_end <= plane_values == (PLANE_BITS + 1)'(1);
    end
  end

  // A number behind a name is the stage whose registers hold it.
  logic [7:0] valid;
  logic [28:0] number0, number1, number2;
  logic [LINE_BITS-1:0] x0, x1, x2, x3, x4, x5, x6;
  logic [PLANE_BITS-1:0] at0, at1, at2, at3, at4, at5, at6, at7;
  logic [3:0] is_residual, is_held, first, starts_line;
  logic [3:0] has_above;
  logic [2:0] has_behind;
  always_ff @(posedge clk) begin
    valid <= {valid[6:0], in_valid};
    if (rst) valid <= '0;
    number0 <= in_number;
    number1 <= number0;
    number2 <= number1;
    is_residual <= {is_residual[2:0], !in_known && !in_held};
    is_held <= {is_held[2:0], in_held};
    first <= {first[2:0], is_first};
    starts_line <= {starts_line[2:0], is_first || (at_line_start && dims != 2'd1)};
    has_above <= {has_above[2:0], has_line && dims != 2'd1 && (dims == 2'd2 || !at_first_line)};
    has_behind <= {has_behind[1:0], has_plane && dims == 2'd3};
    {x0, x1, x2, x3, x4, x5, x6} <= {x, x0, x1, x2, x3, x4, x5};
    {at0, at1, at2, at3, at4, at5, at6, at7} <= {at, at0, at1, at2, at3, at4, at5, at6};
  end

  logic [31:0] line_read3, plane_read2, difference6, difference7;
  block_ram #(
      .WIDTH(32),
      .DEPTH(1 << LINE_BITS)
  ) line (
      .clk,
      .write(valid[6]),
      .write_addr(x6),
      .write_data(difference6),
      .read_addr(x1),
      .read_data(line_read3)
  );
  block_ram #(
      .WIDTH(32),
      .DEPTH(1 << PLANE_BITS)
  ) plane (
      .clk,
      .write(valid[7]),
      .write_addr(at7),
      .write_data(difference7),
      .read_addr(at0),
      .read_data(plane_read2)
  );

  // 3: of the plane before; 4: of the line before; 5: of the value before. 6, 7: what they were, taken off again.
  logic [31:0] sum3, sum4, quant_code5, before5, above4, above5, above6;
  logic adds_before4, has_before4;
  always_ff @(posedge clk) begin
    sum3 <= {{3{number2[28]}}, number2} + (is_residual[2] && has_behind[2] ? plane_read2 : '0);
    sum4 <= sum3 + (is_residual[3] && has_above[3] ? line_read3 : '0);
    above4 <= has_above[3] ? line_read3 : '0;
    above5 <= above4;
    above6 <= above5;
    adds_before4 <= (is_residual[3] && !starts_line[3]) || (is_held[3] && !first[3]);
    has_before4 <= !starts_line[3];
    if (valid[4]) begin
      quant_code5 <= sum4 + (adds_before4 ? quant_code5 : '0);
      before5 <= has_before4 ? quant_code5 : '0;
    end
    difference6 <= quant_code5 - before5;
    difference7 <= difference6 - above6;
  end
  assign out_valid = valid[5];
  assign out_quant_code = quant_code5;
endmodule
