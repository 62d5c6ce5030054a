"""What a compiler makes of models, kept in a JSON file, so that it need not be asked again.

    record = Record("old.json")                        goes on with the file when it is there
    record.add(compiler, models, targets, jobs)        a pieces.Compiler
"""
import concurrent.futures
import json
import os
import sys
import time

from refusal import Refusal

SCHEMA = "weft.compared-code/1"
SAVE_SECONDS = 60


def plain(value):
    """As it is once it was written and read."""
    return json.loads(json.dumps(value))


class Record:
    def __init__(self, path=None):
        self.path, self.compiler, self.has_answers, self.models = path, None, False, {}
        if path and os.path.exists(path):
            self.read()

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                content = json.load(file)
            if content["schema"] != SCHEMA:
                raise Refusal(f"{self.path}: is of schema '{content['schema']}', not '{SCHEMA}'", "record again")
            self.compiler, self.has_answers, self.models = content["compiler"], content["answers"], content["models"]
        except (ValueError, KeyError, TypeError):
            raise Refusal(f"{self.path}: is no record", "tools/compare-code --record FILE WEFT writes one") from None

    def names(self):
        """Of the models that have a result."""
        return [name for name, model in self.models.items() if model["targets"]]

    def save(self):
        if not self.path:
            return
        unfinished = f"{self.path}.{os.getpid()}"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(dict(schema=SCHEMA, compiler=self.compiler, answers=self.has_answers, models=self.models), file, indent=0)
        os.replace(unfinished, self.path)

    def missing(self, models, targets):
        """[(model, target)] without a result; those of a model that changed are forgotten."""
        found = []
        for model in models:
            identity = model.identity()
            if self.models.get(model.name, {}).get("identity") != identity:
                self.models[model.name] = dict(identity=identity, targets={})
            found += [(model, target) for target in targets if target not in self.models[model.name]["targets"]]
        return found

    def claim(self, compiler):
        """One record is of one compiler, asked one way."""
        identity = compiler.identity()
        if self.compiler and (self.compiler, self.has_answers) != (identity, compiler.wants_answers):
            raise Refusal(f"{self.path}: was recorded with another compiler, or with other options", "name another file, or remove it")
        self.compiler, self.has_answers = identity, compiler.wants_answers

    def add(self, compiler, models, targets, jobs):
        """What the compiler makes of the models. Interrupted, the record keeps what is done."""
        self.claim(compiler)
        tasks = self.missing(models, targets)
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        try:
            self.gather({pool.submit(compiler.take_apart, *task): task for task in tasks})
        finally:
            pool.shutdown(cancel_futures=True)
            self.save()

    def gather(self, futures):
        done, saved = 0, time.monotonic()
        for future in concurrent.futures.as_completed(futures):
            model, target = futures[future]
            self.models[model.name]["targets"][target] = plain(future.result())
            done += 1
            if time.monotonic() - saved > SAVE_SECONDS:
                self.save()
                saved = time.monotonic()
                print(f"{done} of {len(futures)}", file=sys.stderr, flush=True)
