// SPDX-License-Identifier: BSD-3-Clause
// Merges leaves and nodes of a Huffman tree, the two lightest at a time: two queues (van Leeuwen 1976), as cut_lengths()
// in src/core/stages/entropy/code_lengths.cpp; equal weights take the leaf. Three cycles for each merge.
//
// Both queues give their nodes in the order they hold them, so a node need not know its parent: how many of its two
// children are nodes says enough (tree_levels.sv).
module huffman_merge (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            start,
    input  logic [  neve_pkg::SYMBOL_BITS:0] used,               // leaves, at least 2
    // Leaves by rank, in two banks of every second one.
    output logic [neve_pkg::SYMBOL_BITS-2:0] leaf_even_addr,
    output logic [neve_pkg::SYMBOL_BITS-2:0] leaf_odd_addr,
    input  logic [ neve_pkg::COUNT_BITS-1:0] leaf_even_count,
    input  logic [ neve_pkg::COUNT_BITS-1:0] leaf_odd_count,
    // Nodes in the order they are made; the last is the root.
    output logic                            node_write,
    output logic [neve_pkg::SYMBOL_BITS-1:0] node,
    output logic [                     1:0] node_children,      // that are nodes themselves
    output logic                            done
);
  localparam int S = neve_pkg::SYMBOL_BITS;
  localparam int C = neve_pkg::COUNT_BITS;
  localparam int W = S + C;  // all symbols at their highest count

  logic [2:0] phase;  // one hot; none: idle
  logic is_priming;  // the first round only fetches
  logic [S-1:0] merges_left;

  // Heads of both queues, and the two behind them, which are on their way from the memories: each bank stands at the
  // first of its leaves or nodes that is no head.
  logic signed [S+1:0] leaf_at;  // rank of leaf0; it moves towards 0
  logic leaf0_valid, leaf1_valid, leaf2_valid, leaf3_valid;
  logic [C-1:0] leaf0, leaf1, leaf2, leaf3;
  logic [S-1:0] node_at;  // number of node0
  logic [S-1:0] queued;  // nodes from node0 on
  logic node0_valid, node1_valid;
  logic [W-1:0] node0, node1, node2, node3;

  logic [W-1:0] even_weight, odd_weight;
  logic [S-2:0] node_even_addr, node_odd_addr;

  assign leaf2 = leaf_at[0] ? leaf_odd_count : leaf_even_count;
  assign leaf3 = leaf_at[0] ? leaf_even_count : leaf_odd_count;
  assign node2 = node_at[0] ? odd_weight : even_weight;
  assign node3 = node_at[0] ? even_weight : odd_weight;

  // Phase 0: every comparison and every sum that may be needed. Comparisons in two halves, whose results meet behind the
  // registers.
  localparam int H = W / 2;
  logic [2:0] is_less, is_same, is_low;  // leaf0 to node0, leaf1 to node0, leaf0 to node1
  logic leaf0_first, leaf1_first, leaf0_second;
  assign {leaf0_second, leaf1_first, leaf0_first} = is_less | (is_same & is_low);
  logic [W-1:0] two_leaves, leaf_and_node, two_nodes;
  logic [3:0] queued_is;
  // Phase 1: what the merge takes, and what becomes of the heads.
  logic takes_two_leaves, takes_two_nodes, takes_both;
  assign takes_two_leaves = leaf0_first && leaf1_first;
  assign takes_two_nodes = !leaf0_first && !leaf0_second;
  assign takes_both = !takes_two_leaves && !takes_two_nodes;
  logic [1:0] leaves_taken, nodes_taken;
  logic [W-1:0] weight;
  logic becomes_node0, becomes_node1;
  // Phase 2: the heads move on, the sum joins the nodes.
  logic merges;
  assign merges = phase[2] && !is_priming;

  block_ram #(
      .WIDTH(W),
      .DEPTH(1 << (S - 1))
  ) even_nodes (
      .clk,
      .write(merges && !node[0]),
      .write_addr(node[S-1:1]),
      .write_data(weight),
      .read_addr(node_even_addr),
      .read_data(even_weight)
  );
  block_ram #(
      .WIDTH(W),
      .DEPTH(1 << (S - 1))
  ) odd_nodes (
      .clk,
      .write(merges && node[0]),
      .write_addr(node[S-1:1]),
      .write_data(weight),
      .read_addr(node_odd_addr),
      .read_data(odd_weight)
  );
  assign node_write = merges;
  assign node_children = nodes_taken;

  always_ff @(posedge clk) begin
    done <= 1'b0;
    if (start) begin
      phase <= 3'b001;
      is_priming <= 1'b1;
      merges_left <= used[S-1:0] - S'(1);
      // As if two leaves behind the last had been the heads.
      leaf_at <= $signed({1'b0, used}) + (S + 2)'(1);
      leaf_odd_addr <= used[S-1:1] - (S - 1)'(1);
      leaf_even_addr <= used[S-1:1] - (S - 1)'(!used[0]);
      node_at <= '0;
      node_odd_addr <= (S - 1)'(1);
      node_even_addr <= (S - 1)'(1);
      node <= '0;
      queued <= '0;
      node0_valid <= 1'b0;
      node1_valid <= 1'b0;
    end

    if (phase[0]) begin
      is_less[0] <= leaf0_valid && (!node0_valid || (W - H)'(leaf0 >> H) < node0[W-1:H]);
      is_less[1] <= leaf1_valid && (!node0_valid || (W - H)'(leaf1 >> H) < node0[W-1:H]);
      is_less[2] <= leaf0_valid && (!node1_valid || (W - H)'(leaf0 >> H) < node1[W-1:H]);
      is_same[0] <= leaf0_valid && (W - H)'(leaf0 >> H) == node0[W-1:H];
      is_same[1] <= leaf1_valid && (W - H)'(leaf1 >> H) == node0[W-1:H];
      is_same[2] <= leaf0_valid && (W - H)'(leaf0 >> H) == node1[W-1:H];
      is_low <= {leaf0[H-1:0] <= node1[H-1:0], leaf1[H-1:0] <= node0[H-1:0], leaf0[H-1:0] <= node0[H-1:0]};
      two_leaves <= W'(leaf0) + W'(leaf1);
      leaf_and_node <= W'(leaf0) + node0;
      two_nodes <= node0 + node1;
      // At least 2 and 3.
      leaf2_valid <= !leaf_at[S+1] && |leaf_at[S:1];
      leaf3_valid <= !leaf_at[S+1] && (|leaf_at[S:2] || &leaf_at[1:0]);
      for (int i = 0; i < 4; i++) queued_is[i] <= queued == S'(i);
      phase <= 3'b010;
    end

    if (phase[1]) begin
      weight <= takes_two_leaves ? two_leaves : takes_both ? leaf_and_node : two_nodes;
      leaves_taken <= {takes_two_leaves, takes_both};
      nodes_taken <= {takes_two_nodes, takes_both};
      becomes_node0 <= takes_two_leaves ? queued_is[0] : takes_both ? queued_is[1] : queued_is[2];
      becomes_node1 <= takes_two_leaves ? queued_is[1] : takes_both ? queued_is[2] : queued_is[3];
      if (is_priming) begin
        leaves_taken <= 2'd2;
        nodes_taken <= 2'd0;
        becomes_node0 <= 1'b0;
        becomes_node1 <= 1'b0;
      end
      phase <= 3'b100;
    end

    if (phase[2]) begin
      if (leaves_taken[1]) begin
        leaf0 <= leaf2;
        leaf0_valid <= leaf2_valid;
        leaf1 <= leaf3;
        leaf1_valid <= leaf3_valid;
      end else if (leaves_taken[0]) begin
        leaf0 <= leaf1;
        leaf0_valid <= leaf1_valid;
        leaf1 <= leaf2;
        leaf1_valid <= leaf2_valid;
      end
      leaf_at <= leaf_at - $signed({S'(0), leaves_taken});
      if (leaves_taken[1] || (leaves_taken[0] && !leaf_at[0])) leaf_even_addr <= leaf_even_addr - (S - 1)'(1);
      if (leaves_taken[1] || (leaves_taken[0] && leaf_at[0])) leaf_odd_addr <= leaf_odd_addr - (S - 1)'(1);

      if (becomes_node0) node0 <= weight;
      else if (nodes_taken[1]) node0 <= node2;
      else if (nodes_taken[0]) node0 <= node1;
      if (becomes_node1) node1 <= weight;
      else if (nodes_taken[1]) node1 <= node3;
      else if (nodes_taken[0]) node1 <= node2;
      node_at <= node_at + S'(nodes_taken);
      if (nodes_taken[1] || (nodes_taken[0] && !node_at[0])) node_even_addr <= node_even_addr + (S - 1)'(1);
      if (nodes_taken[1] || (nodes_taken[0] && node_at[0])) node_odd_addr <= node_odd_addr + (S - 1)'(1);

      is_priming <= 1'b0;
      phase <= 3'b001;
      if (!is_priming) begin
        node0_valid <= 1'b1;
        node1_valid <= !becomes_node0;
        queued <= queued + S'(1) - S'(nodes_taken);
        node <= node + S'(1);
        merges_left <= merges_left - S'(1);
        if (merges_left == S'(1)) begin
          phase <= 3'b000;
          done <= 1'b1;
        end
      end
    end

    if (rst) begin
      phase <= 3'b000;
      done <= 1'b0;
    end
  end
endmodule
