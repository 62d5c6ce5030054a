//===- Passes.td - Passes on the plan ---------------------------------------------------------------===//
#ifndef WEFT_PASSES_PLAN_TD
#define WEFT_PASSES_PLAN_TD

include "mlir/Pass/PassBase.td"

def LowerToPlan : Pass<"plan-lower", "::mlir::ModuleOp"> {
  let summary = "kernels become launches, and values memory";
  let description = [{
    Every kernel is outlined as its specification, and the chooser says which target computes it and how. A value lies where it is
    wanted, else in memory of its own; the order is that of the program, and nothing is placed.

    ```mlir
    func.func @main(%x: …) -> … {                   plan.kernel @weft_k_loop_0011aabbccdd target … schedule "loop" … {
      %1 = weft.kernel loop (%x) …                    func.func @kernel …
      return %1                           ->        }
    }                                               plan.func @main(%x: …) -> … {
                                                      %0 = plan.input 0
                                                      %1 = plan.output 0
                                                      plan.launch @weft_k_loop_0011aabbccdd(%0) -> (%1) [n] units [n] …
    ```
  }];
  let constructor = "::weft::createLowerToPlan(nullptr)";
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

def OverlapExchanges : Pass<"plan-overlap-exchanges", "::weft::plan::FuncOp"> {
  let summary = "ranks compute while an exchange goes on";
  let description = [{
    An `all_gather` and the products that read its rows, or a product and the sum over ranks that sends its rows, become one step: a rank
    computes what needs nobody first, and pieces travel meanwhile. Both forms give the same bits. `by-price` leaves apart what is not cheaper together over
    `links`; without one ranks have the memory of a machine, which their processors copy, so nothing is. A kernel takes as long as its target says of what it multiplies with. `plan.prices` are the nanoseconds of both at `sizes`,
    others being 128: apart, and together in the best number of pieces, which the step says (`plan.overlap pieces 2`). `plan.offer` is what a record of
    `weft tune` may pick instead: the other way, and other numbers of pieces, under the key that such records have.

    ```mlir
    plan.exchange %x -> %1 { … all_gather … }          plan.overlap {
    plan.launch @a(%1, %w) -> (%2) … rows …     ->       plan.exchange %x -> %1 { … all_gather … }
                                                         plan.launch @a(%1, %w) -> (%2) … rows …
                                                       }
    ```

    What neighbours of a ring send each other begins behind what makes it, and ends in front of what reads it first.

    ```mlir
    plan.launch @own(%k) -> (%1) …                     plan.exchange %k -> %2 beside { … permute … }
    plan.exchange %k -> %2 { … permute … }      ->     plan.launch @own(%k) -> (%1) …
    plan.launch @next(%2, %1) -> (%3) …                plan.await %k -> %2
                                                       plan.launch @next(%2, %1) -> (%3) …
    ```
  }];
  let options = [Option<"byPrice", "by-price", "bool", "false", "only what is cheaper together">,
                 Option<"links", "links", "std::string", "", "[AXIS=]BANDWIDTH,LATENCY, several with ; between them">,
                 ListOption<"sizes", "sizes", "std::string", "SYMBOL=NUMBER">];
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

def FormRegions : Pass<"plan-form-regions", "::weft::plan::FuncOp"> {
  let summary = "launches that do not depend on each other run together";
  let description = [{
    Between two decisions of the host, launches are ordered anew so that independent ones come together. What is alive at any time may
    not grow much by that.

    ```mlir
    plan.launch @a(%x) -> (%1) …                    plan.together {
    plan.launch @b(%1) -> (%2) …          ->          plan.launch @a(%x) -> (%1) …
    plan.launch @c(%x) -> (%3) …                      plan.launch @c(%x) -> (%3) …
                                                    }
                                                    plan.launch @b(%1) -> (%2) …
    ```
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

def ReserveLate : Pass<"plan-reserve-late", "::weft::plan::FuncOp"> {
  let summary = "memory whose size data decide is asked for where the size is known";
  let description = [{
    Every size becomes one over symbols of the signature if these limit it. Otherwise the memory lies in a block that is asked for as
    early as all symbols of the size have values.

    ```mlir
    plan.bind "u" %count bits 64                    plan.bind "u" %count bits 64
    %1 = plan.memory host [4*u]           ->        %0 = plan.reserve
                                                    %1 = plan.memory host [4*u] in %0
    ```
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

def PlaceMemory : Pass<"plan-place-memory", "::weft::plan::FuncOp"> {
  let summary = "an order of placement for the memory of each block";
  let description = [{
    Memory that lives at the same time lies above each other; what is used up is used again.

    ```mlir
    %1 = plan.memory host [4*n]                     plan.arena peaks [64*ceildiv(n, 16)]
    plan.launch @a(%x) -> (%1) …          ->        %1 = plan.memory host [4*n] place 0 above []
                                                    plan.launch @a(%x) -> (%1) …
    ```
  }];
  let dependentDialects = ["::weft::plan::PlanDialect"];
}

#endif
