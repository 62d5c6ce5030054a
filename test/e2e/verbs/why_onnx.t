# Nodes are named as everywhere.
$ python3 make_onnx.py model.onnx Relu Softmax Softmax Neg && weft inspect model.onnx --why -t x86:v4
| model.onnx  x86:v4  2 kernel calls, 1 value between them
|      1 x  one kernel walks the rows of one softmax, normalisation or reduction
| kernel 1  weft_k_row_{*}  node 'n0' (Relu) and 1 more
| kernel 2  weft_k_row_{*}  node 'n2' (Softmax) and 1 more
|   reads kernel 1  node 'n1' (Softmax) -> node 'n2' (Softmax)
|     one kernel walks the rows of one softmax, normalisation or reduction
