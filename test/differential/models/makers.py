"""Who makes which operator: makers register by operator name, com.microsoft's with their domain in front.

    @maker("Relu", "Abs")
    def unary(graph, op): graph.node(op, [graph.operand()])
"""
import importlib

MAKERS = {}
FAMILIES = ("elementwise", "moves", "reductions", "products", "windows", "indices", "quantized", "regions", "recurrent",
            "signals", "attention", "fused")


def maker(*operators):
    def register(make):
        for op in operators:
            assert op not in MAKERS, op
            MAKERS[op] = make
        return make
    return register


def load():
    for family in FAMILIES:
        importlib.import_module(f"make_{family}")
    return MAKERS
