# Nesting that MLIR's parser would follow until the stack ends, however the brackets are hidden.
$ sh refuse make_text.py brackets closed_in_strings closed_in_comments closed_by_arrows closed_by_another affine_minus
| error[W0203]: brackets.mlir:1:224: brackets are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0203]: closed_in_strings.mlir:1:1219: brackets are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0203]: closed_in_comments.mlir:200:2: brackets are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0203]: closed_by_arrows.mlir:1:2407: brackets are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0203]: closed_by_another.mlir:1:423: brackets are nested deeper than 200, the limit (raise it with --limit nesting=N)
| error[W0201]: affine_minus.mlir: affine maps are not part of textual IR

# Values that a later line or branch defines: MLIR would use what it has freed.
$ sh refuse make_text.py use_in_earlier_branch use_of_later_line
| error[W0201]: use_in_earlier_branch.mlir:3:16: '%2' is used before it is defined
| error[W0201]: use_of_later_line.mlir:2:17: '%b' is used before it is defined

# Programs that the rest of the compiler does not take, and other people's files.
$ sh refuse make_text.py no_tensor tensor_of_mlir calls_itself other_file behind_end
| error[W0201]: no_tensor.mlir: function 'main' takes or gives a value of type i32, which is not a tensor of Weft
| error[W0201]: tensor_of_mlir.mlir: function 'main' takes or gives a value of type tensor<4xf32>, which is not a tensor of Weft
| error[W0300]: calls_itself.mlir:2:8: operator 'func.call' cannot be compiled yet
| error[W0204]: other_file.mlir: weight 'w': '../secret.bin' contains '..', which could leave the model's directory
| error[W0204]: weight 'w' lies outside file 'behind_end.mlir'

# Bytes of weights behind a program.
$ sh refuse make_text.py no_name no_digits half_a_byte no_text two_contents few_bytes foreign_bytes
| error[W0201]: no_name.mlir:6:43: '_b$4' spells no name of a weight's file
| error[W0201]: no_digits.mlir:6:43: the bytes of '_b' are not pairs of hexadecimal digits
| error[W0201]: half_a_byte.mlir:6:43: the bytes of '_b' are not pairs of hexadecimal digits
| error[W0201]: no_text.mlir:6:47: expected string value for key '_b'
| error[W0201]: two_contents.mlir:6:59: the bytes of '_b' are given twice
| error[W0204]: few_bytes.mlir: weight 'w' lies outside file 'b'
| error[W0201]: foreign_bytes.mlir: resources of dialects are not part of textual IR

# A kernel takes so many operators and no more, and a value that is used twice is computed once.
$ python3 make_text.py long_chain doubled && for case in long_chain doubled; do timeout 60 weft compile -q $case.mlir -o out.weft || echo $case: exit $?; done
$ weft verify -q doubled.mlir --dim n=3
