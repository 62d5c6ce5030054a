// The shapes that a call would give: the checks of a call and its bind, which has no side effects.
#include "runtime/src/base/memory.h"
#include "runtime/src/call/in_place.h"
#include "runtime/src/call/outputs.h"
#include "runtime/src/call/ranks.h"

weft_status_t weft_query_outputs(const weft_module_t *module, int32_t index,
                                 const weft_tensor_t *in, uint32_t n_in, weft_tensor_t *out,
                                 uint32_t n_out, weft_error_t *err) {
  weft_function_v1 function;
  if (!module || !weft_module_function(module, index, &function))
    return weft_fail(err, WEFT_INVALID, "W0401", "module is NULL, or there is no function %d",
                     index);
  weft_status_t status = weft_check_inputs(module, function, in, n_in, false, err);
  if (!status)
    status = weft_check_outputs(module, function, out, n_out, err);
  if (status)
    return status;
  int64_t few[256], *values = few;
  uint32_t count = weft_values_count(module->descriptor, function);
  size_t bytes = count * sizeof(int64_t);
  if (count > 256 && !(values = (int64_t *)weft_allocate(&module->env, bytes, 64)))
    return weft_fail(err, WEFT_OUT_OF_MEMORY, "W0424", "no memory for a query");
  weft_set_places(module, function, 0, values); // outputs are the same on all ranks
  int32_t result = weft_call_bind(module, function, in, values);
  status = result ? weft_report_check(module, function, result, in, nullptr, err)
                  : weft_describe_outputs(module, function, values, out, err);
  if (!status)
    weft_describe_in_place(module, function, in, out);
  if (values != few)
    weft_free(&module->env, values, bytes);
  return status ? status : weft_succeed(err);
}
