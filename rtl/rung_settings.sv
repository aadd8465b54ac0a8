// SPDX-License-Identifier: BSD-3-Clause
// A rung of the ladder of bounds to what the lanes' quantizers work by: its eight words are read, then the 32 limits
// follow, t in places of ever higher exponents (quantizer.sv).
module rung_settings (
  input  logic        clk,
  input  logic        rst,
  // Rungs of 8 words: S, I, t, and B as float64 with the low word first.
  input  logic        ladder_write,
  input  logic [8:0]  ladder_addr,
  input  logic [31:0] ladder_data,
  input  logic        has_fill,
  input  logic [31:0] fill,
  input  logic        load_start,
  input  logic [5:0]  rung,         // stays until `loaded`
  output logic        loaded,
  output neve_pkg::quantizer_settings_t settings
);
  logic [31:0] ladder [0:511];
  logic        loads;
  logic [5:0]  load_at;
  logic [31:0] ladder_word;
  logic [31:0] step;
  logic [30:0] inverse, tolerance;
  logic [2:0]  tolerance_above;
  logic        has_step, is_power;
  logic [8:0]  inverse_shift;
  logic [27:0] limit;
  logic [4:0]  limit_addr;
  logic        limit_write;
  assign settings.step.has_step = has_step;
  assign settings.step.inverse = {1'b1, inverse[22:0]};
  assign settings.step.inverse_shift = inverse_shift;
  assign settings.step.significand = {1'b1, step[22:0]};
  assign settings.step.exponent = step[30:23];
  assign settings.step.is_power = is_power;
  assign settings.has_fill = has_fill;
  assign settings.fill = fill;
  assign settings.limit_write = limit_write;
  assign settings.limit_addr = limit_addr;
  assign settings.limit_data = limit;
  always_ff @(posedge clk) begin
    if (ladder_write) ladder[ladder_addr] <= ladder_data;
    ladder_word <= ladder[{rung, load_at[2:0]}];
    loaded <= 1'b0;
    limit_write <= 1'b0;
    if (rst) begin
      loads <= 1'b0;
    end else if (load_start) begin
      loads <= 1'b1;
      load_at <= 6'd0;
    end else if (loads) begin
      load_at <= load_at + 6'd1;
      case (load_at)
        6'd1: step <= ladder_word;
        6'd2: inverse <= ladder_word[30:0];
        6'd3: tolerance <= ladder_word[30:0];
        6'd4: begin
          has_step <= |step[30:23];
          is_power <= {1'b0, step[30:23]} + {1'b0, inverse[30:23]} == 9'd254;
          inverse_shift <= 9'd277 - {1'b0, inverse[30:23]};
          tolerance_above <= 3'd3 + tolerance[25:23] - step[25:23];
        end
        6'd5: limit <= {4'b0, 1'b1, tolerance[22:0]} << tolerance_above;
        default: begin
          limit_write <= load_at < 6'd38;
          limit_addr <= load_at[4:0] - 5'd6;
          if (limit_write) limit <= limit >> 1;
          if (load_at == 6'd40) begin
            loads <= 1'b0;
            loaded <= 1'b1;
          end
        end
      endcase
    end
  end
endmodule
