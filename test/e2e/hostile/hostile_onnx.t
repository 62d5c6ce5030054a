# The maker writes good models too.
$ python3 make_hostile.py good && weft compile -q good.onnx && weft run -q good.weft --dim n=2 && rm good.weft

# Cut anywhere, a model is refused or is a shorter one.
$ sh cut good.onnx
| every cut refused in one line

# Graphs that hang together wrongly.
$ sh refuse make_hostile.py cycle self_cycle missing_initializer missing_output value_given_twice input_twice initializer_twice initializer_written input_written more_outputs many_more_outputs control_characters no_opset opset_of_the_future format_of_the_future opset_negative
| error[W0201]: cycle.onnx: the graph has a cycle through node 'n0' (Relu)
| error[W0201]: self_cycle.onnx: the graph has a cycle through node 'n' (Add)
| error[W0201]: missing_initializer.onnx: node 'n' (Add): nothing defines the value 'w'
| error[W0201]: missing_output.onnx: output 'y': nothing defines the value 'y'
| error[W0201]: value_given_twice.onnx: two nodes write the value 'y'
| error[W0201]: input_twice.onnx: input 'x' is declared twice
| error[W0201]: initializer_twice.onnx: two initializers are called 'w'
| error[W0201]: initializer_written.onnx: the value 'w' is given, but node 'n1' (Neg) writes it, too
| error[W0201]: input_written.onnx: the value 'x' is given, but node 'n1' (Neg) writes it, too
| error[W0201]: more_outputs.onnx: node 'n' (Relu): the node has 2 outputs, but the operator has 1
| error[W0201]: many_more_outputs.onnx: node 'n' (MaxPool): the node has 3 outputs, but the operator has at most 2
| error[W0207]: control_characters.onnx: node 'evil\x0D\x0Aname\x07' (Re\x1B[31mlu\x0A): operator Re\x1B[31mlu\x0A (opset 18) is not supported
| error[W0202]: no_opset.onnx: states no operator set version; is the file truncated?
| error[W0207]: opset_of_the_future.onnx: the model uses version 9223372036854775807 of the operator set, but 28 is the newest that is supported
| error[W0207]: format_of_the_future.onnx: the model is written in version 15 of ONNX's format, but 14 is the newest that is supported
| error[W0207]: opset_negative.onnx: node 'n' (Relu): operator Relu (opset -9223372036854775808) is not supported

# Outputs that are left out are none.
$ python3 make_hostile.py outputs_left_out && weft compile -q outputs_left_out.onnx -o out.weft && rm out.weft

# What is no model, whatever it is called.
$ sh refuse make_hostile.py program pointer archive zeros nothing
| error[W0202]: 'program.onnx' is not an ONNX model: it is text
| error[W0202]: 'pointer.onnx' is not an ONNX model: it is a pointer to one ('git lfs pull' fetches it)
| error[W0202]: 'archive.onnx' is not an ONNX model: byte 2: not a protobuf field
| error[W0202]: 'zeros.onnx' is not an ONNX model: byte 0: not a protobuf field
| error[W0202]: 'nothing.onnx' is not an ONNX model: it is empty

# Other files.
$ mkdir model && cp make_hostile.py refuse model && cd model && echo secret > ../secret.bin && ln -s ../secret.bin link.bin && head -c 16 /dev/zero > w.bin
$+ sh refuse make_hostile.py external_parent external_absolute external_link external_missing external_folder external_behind_end external_overflow external_negative
| error[W0201]: external_parent.onnx: node 'n' (Add): external_parent.onnx: external data '../secret.bin' contains '..', which could leave the model's directory
| error[W0201]: external_absolute.onnx: node 'n' (Add): external_absolute.onnx: external data '/etc/passwd' is an absolute path, but must lie in the model's directory
| error[W0201]: external_link.onnx: node 'n' (Add): external_link.onnx: external data 'link.bin' is a symbolic link that leaves the model's directory; hint: copy the file itself there
| error[W0201]: external_missing.onnx: node 'n' (Add): external_missing.onnx: external data 'nothing.bin': cannot be opened: no such file or directory
| error[W0201]: external_folder.onnx: node 'n' (Add): external_folder.onnx: external data .: is not a regular file
| error[W0201]: external_behind_end.onnx: node 'n' (Add): external_behind_end.onnx: tensor 'w': external data 'w.bin' has 16 bytes, but 16 at offset 8 are needed
| error[W0201]: external_overflow.onnx: node 'n' (Add): external_overflow.onnx: tensor 'w': external data of 9223372036854775807 bytes, but float [4] needs 16
| error[W0202]: external_negative.onnx: byte 54: initializer 0 ('w'): the external data's offset is '-16', but must be a number of bytes

# Sizes that no machine has.
$ sh refuse make_hostile.py dims_negative dims_overflow dims_many initializer_absurd expand_absurd tile_absurd reshape_absurd reshape_two_unknown pad_absurd constant_of_shape_absurd range_absurd range_of_nothing
| error[W0202]: dims_negative.onnx: byte 39: input 0 ('x'): a dimension is -5
| error[W0207]: dims_overflow.onnx: input 'x': a dimension exceeds 2^31 - 1
| error[W0207]: dims_many.onnx: input 'x': a tensor of rank 60 is needed, but 8 is the most
| error[W0202]: initializer_absurd.onnx: byte 28: initializer 0 ('w'): the shape [1099511627776, 1099511627776] has more elements than can be counted
| error[W0207]: expand_absurd.onnx: node 'n' (Expand): a dimension exceeds 2^31 - 1
| error[W0207]: tile_absurd.onnx: node 'n' (Tile): a dimension exceeds 2^31 - 1
| error[W0207]: reshape_absurd.onnx: node 'n' (Reshape): a dimension exceeds 2^31 - 1
| error[W0201]: reshape_two_unknown.onnx: node 'n' (Reshape): the shape has two entries of -1
| error[W0207]: pad_absurd.onnx: node 'n' (Pad): a dimension exceeds 2^31 - 1
| error[W0207]: constant_of_shape_absurd.onnx: node 'n0' (ConstantOfShape): a dimension exceeds 2^31 - 1
| error[W0207]: range_absurd.onnx: node 'n0' (Range): a dimension exceeds 2^31 - 1
| error[W0201]: range_of_nothing.onnx: node 'n0' (Range): delta is 0

# Numbers at the end of their range.
$ sh refuse make_hostile.py divide_overflow multiply_overflow negate_overflow absolute_overflow sum_overflow slice_extremes slice_step_zero slice_axis_extreme gather_extreme softmax_axis_extreme concat_axis_extreme transpose_extreme flatten_extreme unsqueeze_extreme split_extreme split_into_many top_k_negative cumulate_extreme pool_strides_zero pool_kernel_extreme pool_pads_extreme neighbours_extreme text_with_newlines quantised_as_floats sequences_swapped sequence_not_filled sequence_filled_in_front sequence_position_extreme conv_extreme conv_groups_zero cast_extreme exponential_of_integers softmax_of_integers bits_of_floats grid_of_integers
| error[W0201]: divide_overflow.onnx: node 'n1' (Expand): a dimension would be -9223372036854775808
| error[W0201]: multiply_overflow.onnx: node 'n1' (Expand): a dimension would be -9223372036854775808
| error[W0201]: negate_overflow.onnx: node 'n1' (Expand): the shape: '0' exceeds '-4'
| error[W0201]: absolute_overflow.onnx: node 'n1' (Expand): a dimension would be -9223372036854775808
| error[W0201]: sum_overflow.onnx: node 'n1' (Expand): dimensions '4' and '2' cannot be broadcast together
| error[W0201]: slice_extremes.onnx: node 'n' (Slice): a step is -9223372036854775808
| error[W0201]: slice_step_zero.onnx: node 'n' (Slice): a step is 0
| error[W0201]: slice_axis_extreme.onnx: node 'n' (Slice): axis -9223372036854775808 is outside of rank 2
| error[W0201]: gather_extreme.onnx: node 'n' (Gather): index -9223372036854775808 is outside of a dimension of 4
| error[W0201]: softmax_axis_extreme.onnx: node 'n' (Softmax): axis -9223372036854775808 is outside of rank 2
| error[W0201]: concat_axis_extreme.onnx: node 'n' (Concat): axis -9223372036854775808 is outside of rank 2
| error[W0201]: transpose_extreme.onnx: node 'n' (Transpose): axis -9223372036854775808 is outside of rank 2
| error[W0201]: flatten_extreme.onnx: node 'n' (Flatten): axis 9223372036854775807 is outside of rank 3
| error[W0201]: unsqueeze_extreme.onnx: node 'n' (Unsqueeze): axis -9223372036854775808 is outside of rank 3
| error[W0201]: split_extreme.onnx: node 'n' (Split): a dimension would be -9223372036854775808
| error[W0201]: split_into_many.onnx: node 'n' (Split): attribute 'num_outputs' is 9223372036854775807
| error[W0201]: top_k_negative.onnx: node 'n' (TopK): 'weft.top_k' cannot take -9223372036854775808 elements along axis 1 of '!weft.tensor<[n, 4], f32>'
| error[W0201]: cumulate_extreme.onnx: node 'n' (CumSum): axis -9223372036854775808 is outside of rank 2
| error[W0201]: pool_strides_zero.onnx: node 'n' (MaxPool): strides and dilations must be positive
| error[W0201]: pool_kernel_extreme.onnx: node 'n' (MaxPool): attribute 'kernel_shape' must have a positive size for each of the 2 spatial dimensions
| error[W0207]: pool_pads_extreme.onnx: node 'n' (AveragePool): a dimension exceeds 2^31 - 1
| error[W0207]: neighbours_extreme.onnx: node 'n' (LRN): attribute 'size' is 9223372036854775807, and the number of channels is not constant
| error[W0207]: text_with_newlines.onnx: node 'n' (Gelu): approximation '\x00tanh\x0A?' is not supported
| error[W0201]: quantised_as_floats.onnx: node 'n' (QLinearMatMul): reals are quantised as integers of 2 to 16 bits and as floats of 4 to 16 bits
| error[W0207]: sequences_swapped.onnx: node 'loop' (Loop): output 1 of the body is not its input with tensors appended, and other sequences that a loop carries are not supported
| error[W0207]: sequence_not_filled.onnx: node 'loop' (Loop): output 2 of the body is not its input with tensors appended, and other sequences that a loop carries are not supported
| error[W0207]: sequence_filled_in_front.onnx: node 'n' (SequenceInsert): a position in a sequence that a loop fills is not supported
| error[W0201]: sequence_position_extreme.onnx: node 'n' (SequenceAt): position -9223372036854775808 is outside of the sequence
| error[W0201]: conv_extreme.onnx: node 'n' (Conv): attribute 'group' is -9223372036854775808
| error[W0201]: conv_groups_zero.onnx: node 'n' (Conv): attribute 'group' is 0
| error[W0207]: cast_extreme.onnx: node 'n' (Cast): element type undefined is not supported
| error[W0201]: exponential_of_integers.onnx: node 'n' (Exp): 'weft.exp' needs floats, but its operand has elements 'i32'
| error[W0201]: softmax_of_integers.onnx: node 'n' (Softmax): 'weft.softmax' needs floating-point lines, but its operand is '!weft.tensor<[n, 4], i32>'
| error[W0201]: bits_of_floats.onnx: node 'n' (BitwiseNot): 'weft.not' combines bits, but its operand has elements 'f32'
| error[W0201]: grid_of_integers.onnx: node 'n' (GridSample): the grid must have floating-point elements

# What integers give there is defined, so these compile, and agree with the evaluator.
$ for case in divide_by_zero remainder_overflow remainder_by_zero neighbours_all; do python3 make_hostile.py $case && weft verify -q $case.onnx --dim n=1 || echo $case; done

# Depth and width.
$ sh refuse make_hostile.py branches_nested functions_nested functions_recursive functions_exponential doubling
| error[W0203]: branches_nested.onnx: byte 7606: node 0 ('n'): attribute 'then_branch': node 0 ('n'): attribute 'then_branch': node 0 ('n'): attribute 'then_branch': node 0 ('n'): attribute 'then_branch': node 0 ('n'): attribute 'then_branch': node 0 ('n'): attribute 'then_branch': node 0 ('n'): attri
| error[W0203]: functions_nested.onnx: node 'n' (f:F200): functions and branches are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0201]: functions_recursive.onnx: node 'n' (f:F): function 'F' calls itself
| error[W0203]: functions_exponential.onnx: the model has more than 1000000 nodes after its functions are inlined, the limit (raise it with --limit nodes=N)
| error[W0207]: doubling.onnx: node 'n60' (Concat): a tensor has too many elements

# Sizes that outgrow expressions go on as data, which decide the rest when the program runs.
$ python3 make_hostile.py squaring && weft compile -q squaring.onnx -o squaring.weft && weft run squaring.weft --dim n=1 2>/dev/null
| outputs  v70  f32[0]  min nan         mean nan         max nan         nan 0

# Thirty thousand operators, each unknown for itself: as many lines, and no time that grows with their square.
$ python3 make_hostile.py operators_of_all_kinds && timeout 60 weft compile -q operators_of_all_kinds.onnx 2>said || echo exit $? && sort -u said | wc -l && rm said operators_of_all_kinds.onnx
| exit 1
| 30000
