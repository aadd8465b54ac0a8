// SPDX-License-Identifier: BSD-3-Clause
// What rtl/dsp_slice.sv uses of UltraScale's DSP48E2, after the vendor's user guide UG579; anything else of it ends the
// simulation. Its registers are never reset or held here.
module DSP48E2 #(
    parameter int AREG = 1,
    parameter int ACASCREG = 1,
    parameter int BREG = 1,
    parameter int BCASCREG = 1,
    parameter int CREG = 1,
    parameter int DREG = 1,
    parameter int ADREG = 1,
    parameter int MREG = 1,
    parameter int PREG = 1,
    parameter int OPMODEREG = 1,
    parameter int ALUMODEREG = 1,
    parameter int INMODEREG = 1,
    parameter int CARRYINREG = 1,
    parameter int CARRYINSELREG = 1,
    parameter USE_MULT = "MULTIPLY",
    parameter USE_PATTERN_DETECT = "NO_PATDET",
    parameter logic [47:0] PATTERN = 48'd0,
    parameter logic [47:0] MASK = 48'h3fffffffffff
) (
    input  logic        CLK,
    input  logic [29:0] A,
    input  logic [17:0] B,
    input  logic [47:0] C,
    input  logic [47:0] PCIN,
    input  logic [ 8:0] OPMODE,
    input  logic [ 3:0] ALUMODE,
    input  logic        CARRYIN,
    output logic [47:0] P,
    output logic [47:0] PCOUT,
    output logic        PATTERNDETECT, PATTERNBDETECT,

    input  logic [29:0] ACIN,
    input  logic [17:0] BCIN,
    input  logic [26:0] D,
    input  logic [ 4:0] INMODE,
    input  logic [ 2:0] CARRYINSEL,
    input  logic        CARRYCASCIN, MULTSIGNIN,
    input  logic        CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
    input  logic        RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP,
    output logic [29:0] ACOUT,
    output logic [17:0] BCOUT,
    output logic        CARRYCASCOUT,
    output logic [ 3:0] CARRYOUT,
    output logic        MULTSIGNOUT, OVERFLOW, UNDERFLOW,
    output logic [ 7:0] XOROUT
);
  localparam bit MULTIPLIES = USE_MULT == "MULTIPLY";
  generate
    if (AREG > 1 || AREG != BREG || AREG != ACASCREG || BREG != BCASCREG || CREG != 0 || PREG != 1 || OPMODEREG != 0 ||
        ALUMODEREG != 0 || INMODEREG != 0 || CARRYINREG != 0 || CARRYINSELREG != 0 || MREG != int'(MULTIPLIES) ||
        USE_PATTERN_DETECT != "PATDET") begin : g_not_modelled
      $error("DSP48E2: not modelled");
    end
  endgenerate

  logic [29:0] a;
  logic [17:0] b;
  generate
    if (AREG == 1) begin : g_input
      always_ff @(posedge CLK) begin
        a <= A;
        b <= B;
      end
    end else begin : g_no_input
      assign a = A;
      assign b = B;
    end
  endgenerate

  // Figure "X, Y, Z, W multiplexers": W in OPMODE[8:7], Z in [6:4], Y in [3:2], X in [1:0].
  logic signed [44:0] m;
  logic [47:0] w, x, y, z, rest, sum;
  always_ff @(posedge CLK) m <= $signed(a[26:0]) * $signed(b);
  assign x = OPMODE[1:0] == 2'b01 ? 48'(m) : OPMODE[1:0] == 2'b10 ? P : OPMODE[1:0] == 2'b11 ? {a, b} : 48'd0;
  assign y = OPMODE[3:2] == 2'b11 ? C : 48'd0;  // 01: the other half of the product
  assign z = OPMODE[6:4] == 3'b001 ? PCIN :
             OPMODE[6:4] == 3'b010 ? P :
             OPMODE[6:4] == 3'b011 ? C :
             OPMODE[6:4] == 3'b101 ? 48'($signed(PCIN) >>> 17) : 48'd0;
  assign w = OPMODE[8:7] == 2'b01 ? P : OPMODE[8:7] == 2'b11 ? C : 48'd0;
  assign rest = w + x + y + {47'd0, CARRYIN};
  assign sum = ALUMODE == 4'b0011 ? z - rest : z + rest;
  always_ff @(posedge CLK) begin
    P <= sum;
    PATTERNDETECT <= ((sum ^ PATTERN) & ~MASK) == 48'd0;
    PATTERNBDETECT <= ((sum ^ ~PATTERN) & ~MASK) == 48'd0;
    assert (ALUMODE == 4'b0000 || ALUMODE == 4'b0011);
    assert ((OPMODE[1:0] == 2'b01) == (OPMODE[3:2] == 2'b01));  // both halves of a product, or none
    assert (OPMODE[1:0] != 2'b01 || MULTIPLIES);
    assert (OPMODE[3:2] != 2'b10 && OPMODE[8:7] != 2'b10);
    assert (OPMODE[6:4] != 3'b100 && OPMODE[6:4] != 3'b110 && OPMODE[6:4] != 3'b111);
    assert (CEM && CEP && CEA2 && CEB2);
    assert (!(RSTA || RSTB || RSTM || RSTP || RSTALLCARRYIN || RSTALUMODE || RSTCTRL));
    assert (INMODE == 5'd0 && CARRYINSEL == 3'd0);
  end
  assign PCOUT = P;

  assign ACOUT = a;
  assign BCOUT = b;
  assign {CARRYCASCOUT, CARRYOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW, XOROUT} = '0;
endmodule
