// SPDX-License-Identifier: BSD-3-Clause
// A DSP48E2 of UltraScale+ (UG579), for what Yosys does not infer there: its adder, its cascade, its pattern detector.
// Modules made of it have a portable form too (NEVE_PORTABLE), bit for bit and cycle for cycle the same.
//
// The result stands one cycle after c, opmode, subtract and carry; one after a and b, and one more for INPUT_REGISTER and
// for MULTIPLIES each.
module dsp_slice #(
    parameter bit MULTIPLIES = 0,     // opmode may take a * b
    parameter bit INPUT_REGISTER = 0, // behind a and b
    parameter int UNLOOKED_BITS = 0   // of p, lowest, whatever is_zero and is_ones say
) (
    input  logic        clk,
    input  logic [29:0] a,            // 27 bits of a product, signed
    input  logic [17:0] b,
    input  logic [47:0] c,
    input  logic [47:0] cascade_in,   // of the slice below
    input  logic [ 8:0] opmode,
    input  logic        subtract,     // opmode's Z less the rest, not plus
    input  logic        carry,
    output logic [47:0] p,
    output logic [47:0] cascade,
    output logic        is_zero,      // p is
    output logic        is_ones
);
  DSP48E2 #(
      .AREG(INPUT_REGISTER ? 1 : 0),
      .ACASCREG(INPUT_REGISTER ? 1 : 0),
      .BREG(INPUT_REGISTER ? 1 : 0),
      .BCASCREG(INPUT_REGISTER ? 1 : 0),
      .CREG(0),
      .DREG(0),
      .ADREG(0),
      .MREG(MULTIPLIES ? 1 : 0),
      .PREG(1),
      .OPMODEREG(0),
      .ALUMODEREG(0),
      .INMODEREG(0),
      .CARRYINREG(0),
      .CARRYINSELREG(0),
      .USE_MULT(MULTIPLIES ? "MULTIPLY" : "NONE"),
      .USE_PATTERN_DETECT("PATDET"),
      .PATTERN(48'd0),
      .MASK((48'd1 << UNLOOKED_BITS) - 48'd1)
  ) slice (
      .CLK(clk),
      .A(a),
      .B(b),
      .C(c),
      .PCIN(cascade_in),
      .OPMODE(opmode),
      .ALUMODE({2'b00, subtract, subtract}),
      .CARRYIN(carry),
      .P(p),
      .PCOUT(cascade),
      .PATTERNDETECT(is_zero),
      .PATTERNBDETECT(is_ones),

      .ACIN(30'd0),
      .BCIN(18'd0),
      .D(27'd0),
      .INMODE(5'd0),
      .CARRYINSEL(3'd0),
      .CARRYCASCIN(1'b0),
      .MULTSIGNIN(1'b0),
      .CEA1(1'b1),
      .CEA2(1'b1),
      .CEAD(1'b0),
      .CEALUMODE(1'b0),
      .CEB1(1'b1),
      .CEB2(1'b1),
      .CEC(1'b0),
      .CECARRYIN(1'b0),
      .CECTRL(1'b0),
      .CED(1'b0),
      .CEINMODE(1'b0),
      .CEM(1'b1),
      .CEP(1'b1),
      .RSTA(1'b0),
      .RSTALLCARRYIN(1'b0),
      .RSTALUMODE(1'b0),
      .RSTB(1'b0),
      .RSTC(1'b0),
      .RSTCTRL(1'b0),
      .RSTD(1'b0),
      .RSTINMODE(1'b0),
      .RSTM(1'b0),
      .RSTP(1'b0),
      .ACOUT(),
      .BCOUT(),
      .CARRYCASCOUT(),
      .CARRYOUT(),
      .MULTSIGNOUT(),
      .OVERFLOW(),
      .UNDERFLOW(),
      .XOROUT()
  );
endmodule
