#!/usr/bin/env python3
"""Writes wordpiece_reference.txt: texts and the ids that Hugging Face's tokenizer gives them.

    pip install tokenizers
    python3 make_wordpiece_reference.py MODEL_FOLDER/vocab.txt > wordpiece_reference.txt

Each line is ids, a tab, and the text with \\xHH for every byte that is not plain ASCII.
"""
import sys

import tokenizers

TEXTS = [
    b"", b" ", b"\t\r\n", b"a", b"Hello, world!", b"The quick brown fox jumps over the lazy dog.",
    b"HELLO hello HeLLo", b"don't won't can't", b"state-of-the-art", b"e.g. i.e. etc...", b"??!!",
    b"$100.50 + 5% = #1 & more", b"a^b`c~d|e<f>g", b"{json: [1, 2]}", b"path/to\\file_name.txt",
    b"3.14159 2,718 1e-9 0x1F", b"1234567890 20250101 007",
    b"user@example.com https://example.com/?q=1", b"embeddings tokenization unaffable",
    b"supercalifragilisticexpialidocious", b"zzxqj qqqq vvxx",
    b"two  spaces\tand\ttabs\nand lines\r\n", b"null\x00byte bell\x07 del\x7f",
    b"[CLS] is [MASK] not[SEP]text [mask] [PAD][UNK]", b"##ing #ing ing", b"a" * 100, b"a" * 101,
    b"word " + b"x" * 250 + b" word", "é".encode() * 100, "é".encode() * 101,
    "Café déjà vu, naïve façade".encode(), "Cafe\u0301 de\u0301ja\u0300 vu".encode(),
    "ÀÁÂÃÄÅ àáâãäå Çç Ññ Öö Üü Ýÿ".encode(), "Straße ẞ Æther œuvre Øresund Łódź đ".encode(),
    "Żółć gęślą jaźń".encode(), "İstanbul ılık ĞÜŞ".encode(),
    "Tiếng Việt có dấu: Đặng, ườ, ỗ".encode(), "ΟΔΥΣΣΕΥΣ Ελληνικά ΐ ώ".encode(),
    "Привет, МИР! Ёлка йод Їжак".encode(), "שלום עולם שָׁלוֹם".encode(),
    "مرحبا بالعالم مُحَمَّد".encode(), "हिन्दी में नमस्ते क़".encode(), "தமிழ் பொருள்".encode(),
    "ภาษาไทย".encode(), "한국어 문장 값".encode(), "日本語の文章です。カタカナ ｶﾀ".encode(),
    "你好，世界！中文abc混合123".encode(), "\U00020000\U0002a700x 〇".encode(),
    "emoji 😀 and 👍🏽 👩‍💻 ❤️ 🇫🇷".encode(), "☃ ★ → ∞ ≠ ½ ² ™ ©".encode(), "€5 £6 ¥7 ¢8".encode(),
    "“quotes” ‘single’ «guillemets» — – … ¿qué? ¡sí!".encode(),
    "soft\u00adhyphen zero\u200bwidth \ufeffbom".encode(),
    "nbsp\u00a0em\u2003ideographic\u3000line\u2028end".encode(), "ＦＵＬＬ width １２３！".encode(),
    "ﬁne ﬂow Ǆ ǅ".encode(), "\u212A \u212B \u2126 \u037E \u1FEF".encode(), "𝐛𝐨𝐥𝐝 𝒎𝒂𝒕𝒉".encode(),
    "\ue000private\U000f0000use".encode(), b"bad \xff\xfe bytes", b"cut \xe4\xb8",
    b"over\xc0\x80long \xed\xa0\x80 surrogate", b"\xf4\x90\x80\x80 \xf0\x9f\x98 x",
    b"replacement \xef\xbf\xbd character", b"long text " * 200,
]


def escaped(text):
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02X}" for b in text)


def main():
    tokenizer = tokenizers.BertWordPieceTokenizer(sys.argv[1], lowercase=True)
    tokenizer.enable_truncation(256)
    version = tokenizers.__version__
    print(f"# make_wordpiece_reference.py, tokenizers {version}, all-MiniLM-L6-v2's vocab.txt")
    for text in TEXTS:
        ids = tokenizer.encode(text.decode("utf-8", "replace")).ids
        print(" ".join(map(str, ids)) + "\t" + escaped(text))


if __name__ == "__main__":
    main()
