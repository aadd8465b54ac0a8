// SPDX-License-Identifier: BSD-3-Clause
// What the engine's driver writes before a stream (docs/hardware.md, "Registers"); the stream header and the ladder of
// bounds are kept where they are read.
module engine_registers #(
  parameter int LANES = 1,
  parameter int BLOCK_BITS = 12,
  parameter int PLANE_BITS = 12
) (
  input  logic        clk,
  input  logic        rst,
  input  logic        reg_write,
  input  logic [9:0]  reg_addr,
  input  logic [31:0] reg_data,

  output logic        start,
  output logic [1:0]  dims,
  output logic [1:0]  rule,
  output logic [2:0]  table_shift,   // a table's cost counts as if 2^table_shift rounds shared it
  output logic        has_fill,
  output logic        restarts,
  output logic        holds_ratio,
  output logic [15:0] line_last,
  output logic [15:0] plane_last,
  output logic [15:0] block_x_step,
  output logic [15:0] block_y_step,
  output logic [PLANE_BITS:0] plane_values,
  output logic [BLOCK_BITS:0] block_values,
  output logic [47:0] total,
  output logic [31:0] fill,
  output logic [31:0] chi_keep,
  output logic [31:0] chi_offline,
  output logic [31:0] target,
  output logic [6:0]  header_words,
  output logic [15:0] build_rounds,
  output logic [5:0]  first_rung,
  output logic [5:0]  last_rung,
  output logic [4:0]  gain_shift
);
  localparam logic [9:0] REG_START = 10'h00, REG_MODE = 10'h01, REG_LINE_LAST = 10'h02, REG_PLANE_LAST = 10'h03,
                         REG_PLANE_VALUES = 10'h04, REG_BLOCK_X = 10'h05, REG_BLOCK_Y = 10'h06,
                         REG_BLOCK_VALUES = 10'h07, REG_TOTAL_LOW = 10'h08, REG_TOTAL_HIGH = 10'h09,
                         REG_FILL = 10'h0a, REG_HEADER_WORDS = 10'h0b, REG_CHI_KEEP = 10'h0c,
                         REG_CHI_OFFLINE = 10'h0d, REG_BUILD_ROUNDS = 10'h0e, REG_TARGET = 10'h0f,
                         REG_RUNGS = 10'h10;

  always_ff @(posedge clk) begin
    start <= ~rst & reg_write & reg_addr == REG_START;
    if (reg_write) begin
      case (reg_addr)
        REG_MODE: begin
          dims <= reg_data[1:0];
          rule <= reg_data[5:4];
          has_fill <= reg_data[8];
          restarts <= reg_data[9] | (LANES > 1);
          holds_ratio <= reg_data[10];
          table_shift <= reg_data[14:12];
        end
        REG_LINE_LAST: line_last <= reg_data[15:0];
        REG_PLANE_LAST: plane_last <= reg_data[15:0];
        REG_PLANE_VALUES: plane_values <= reg_data[PLANE_BITS:0];
        REG_BLOCK_X: block_x_step <= reg_data[15:0];
        REG_BLOCK_Y: block_y_step <= reg_data[15:0];
        REG_BLOCK_VALUES: block_values <= reg_data[BLOCK_BITS:0];
        REG_TOTAL_LOW: total[31:0] <= reg_data;
        REG_TOTAL_HIGH: total[47:32] <= reg_data[15:0];
        REG_FILL: fill <= reg_data;
        REG_HEADER_WORDS: header_words <= reg_data[6:0];
        REG_CHI_KEEP: chi_keep <= reg_data;
        REG_CHI_OFFLINE: chi_offline <= reg_data;
        REG_BUILD_ROUNDS: build_rounds <= reg_data[15:0];
        REG_TARGET: target <= reg_data;
        REG_RUNGS: {gain_shift, last_rung, first_rung} <= {reg_data[20:16], reg_data[13:8], reg_data[5:0]};
        default: ;
      endcase
    end
  end
endmodule
