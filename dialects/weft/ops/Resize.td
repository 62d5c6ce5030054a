//===- Resize.td - Images at another resolution -------------------------------------------------===//
#ifndef WEFT_OPS_RESIZE_TD
#define WEFT_OPS_RESIZE_TD

include "dialects/weft/ops/Base.td"

def Weft_ResizeMode : I32EnumAttr<"ResizeMode", "which neighbours an element is made of", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">, I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::weft";
}

def Weft_ResizeCoordinates : I32EnumAttr<"ResizeCoordinates", "where a result element lies in the operand", [
    I32EnumAttrCase<"HalfPixel", 0, "half_pixel">, I32EnumAttrCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
    I32EnumAttrCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">, I32EnumAttrCase<"AlignCorners", 3, "align_corners">,
    I32EnumAttrCase<"Asymmetric", 4, "asymmetric">]> {
  let cppNamespace = "::weft";
}

def Weft_ResizeRounding : I32EnumAttr<"ResizeRounding", "which element is nearest", [
    I32EnumAttrCase<"PreferFloor", 0, "prefer_floor">, I32EnumAttrCase<"PreferCeil", 1, "prefer_ceil">,
    I32EnumAttrCase<"Floor", 2, "floor">, I32EnumAttrCase<"Ceil", 3, "ceil">]> {
  let cppNamespace = "::weft";
}

def Weft_ResizeOp : Weft_PureOp<"resize", [Weft_Reference, DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>]> {
  let summary = "the operand sampled at other points";
  let description = [{
    Along each dimension result element i lies at a coordinate c of the operand. With the scale s (`scales`, or where that is 0 the quotient
    of the sizes), n the operand's size and m the result's: half_pixel (i + 0.5)/s - 0.5; half_pixel_symmetric the same plus
    n/2 * (1 - m/(s*n)); pytorch_half_pixel the same as half_pixel but 0 when m is 1; align_corners i*(n - 1)/(m - 1), 0 when m is 1;
    asymmetric i/s. A dimension of equal size with scale 1 or 0 is left alone.

    `nearest` takes the element that c rounds to: ties down (prefer_floor) or up (prefer_ceil), or always down or up. `linear` weighs the two
    elements around c, `cubic` four with Keys' kernel of parameter `cubic_a`. Positions outside are clamped; with `exclude_outside` they
    weigh nothing and the rest is scaled to 1.

    (R1) There is a size and a scale for each dimension; scales are not negative.
    (R2) `linear` and `cubic` need floats.

    ```mlir
    %y = weft.resize linear %x to [b, 3, 2*h, 2*w] scales [1.0, 1.0, 2.0, 2.0] coordinates half_pixel rounding prefer_floor
       : (!weft.tensor<[b, 3, h, w], f32>) -> !weft.tensor<[b, 3, 2*h, 2*w], f32>
    ```
  }];
  let arguments = (ins Weft_ResizeMode:$mode, Weft_Tensor:$input, Weft_DimsAttr:$sizes, DenseF64ArrayAttr:$scales,
                       Weft_ResizeCoordinates:$coordinates, Weft_ResizeRounding:$rounding,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic_a, UnitAttr:$exclude_outside);
  let assemblyFormat = [{
    $mode $input `to` custom<DimList>($sizes) `scales` $scales `coordinates` $coordinates `rounding` $rounding attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef sizesName() { return "sizes"; }
    /// Whether a dimension has the same elements on both sides.
    bool keepsDim(unsigned d);
  }];
}

#endif
