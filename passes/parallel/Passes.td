//===- Passes.td - Passes that give ranks their parts of the work ------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_TD
#define WEFT_PASSES_PARALLEL_TD

include "mlir/Pass/PassBase.td"

def Place : Pass<"weft-place", "::mlir::ModuleOp"> {
  let summary = "functions are to be split over a mesh, and values have the placements that users gave";
  let description = [{
    `mesh` is as users write it, `place` are a pattern and a placement each: of inputs, outputs and weights, or where none has such a name, of nodes
    by the value they give. A later one replaces an earlier one. Axes of one rank split nothing: they are read and left out.

    ```mlir
    func.func @main(%x: …)                      func.func @main(%x: …) attributes {weft.split_over = #weft.mesh<tp = 2>, …}
    %w = weft.constant @up                 ->   %w = weft.constant @up {weft.placement = #weft.placement<[_, tp]>}
    ```
  }];
  let options = [Option<"mesh", "mesh", "std::string", "", "axes with their sizes: dp=2,tp=4">,
                 ListOption<"place", "place", "std::string", "PATTERN=[AXES, …]; `*` is any text, `?` any character">];
  let dependentDialects = ["::weft::WeftDialect"];
}

def SplitFunctions : Pass<"weft-split-functions", "::mlir::func::FuncOp"> {
  let summary = "every rank of a mesh computes its part";
  let description = [{
    One axis after the other. An operator is cut along the factor that most bytes of its operands are cut by already, so placements
    spread through the program; what then does not meet is exchanged behind where it is made, and says why. Arguments and results stay whole, but for those that have `weft.whole`: of them ranks get and give parts.
    What is computed of constants alone is known to all ranks and never exchanged. Functions that were written for ranks get the symbols of places
    that they do not have.

    ```mlir
    %1 = weft.contract "m k, k n -> m n" %x, %up          %1 = weft.contract "m k, k n -> m n" %x, %up_part
    %2 = weft.gelu %1                                ->   %2 = weft.gelu %1
    %3 = weft.contract "m n, n k -> m k" %2, %down        %3 = weft.contract "m n, n k -> m k" %2, %down_part
                                                          %4 = weft.all_reduce sum %3 over<tp = 2> {weft.because = …}
    ```

    Attention whose queries, keys and values ranks have by tokens becomes a ring: blocks of keys and values go once around, and each rank merges what
    its queries get of every block.

    ```mlir
    %p = weft.softmax %scores                             for each block: %x = scores with it, %m = the largest so far,
    %o = weft.contract "h i j, h j d -> h i d" %p, %v ->    %sum = %sum * e^(%before - %m) + sum e^(%x - %m), %o likewise with its values;
                                                          %k, %v = weft.permute … by 1;   behind the last: %o / %sum
    ```

    With `rings=most`, or `priced` where it is cheaper over `links`, keys and values of some heads go around after those of others, so that a rank attends to
    the first while the rest comes.
  }];
  let options = [Option<"rings", "rings", "std::string", "\"whole\"", "in how many shares of heads they go around: whole, priced or most">,
                 Option<"links", "links", "std::string", "", "[AXIS=]BANDWIDTH,LATENCY, several with ; between them">,
                 ListOption<"sizes", "sizes", "std::string", "SYMBOL=NUMBER">];
  let dependentDialects = ["::weft::WeftDialect"];
  let statistics = [Statistic<"exchanges", "exchanges", "collectives that were inserted">];
}

def LimitExchanges : Pass<"weft-limit-exchanges", "::mlir::func::FuncOp"> {
  let summary = "exchanges that nobody asked for say what they send, and large ones are refused";
  let description = [{
    Behind splitting. `most` is of the bytes that one rank sends for an exchange other than a sum of parts, at the sizes that `sizes` gives, or at 1 for
    sizes that lead inputs and 128 for others.

    ```mlir
    %2 = weft.all_gather %1 … {weft.because =      ->   %2 = weft.all_gather %1 … {weft.because =
      "'b' needs all of what 'a' gives in parts"}         "'b' needs all of what 'a' gives in parts: 48*n B by one rank"}
    ```
  }];
  let options = [Option<"most", "most", "int64_t", "0", "bytes; 0: any number">,
                 ListOption<"sizes", "sizes", "std::string", "SYMBOL=NUMBER">];
  let dependentDialects = ["::weft::WeftDialect"];
}

#endif
