"""Reads what train.cu's EventFile has written, without TensorBoard.

    python3 labs/16_resilience/experiments/scalars.py FOLDER/events [OUT.json]

Prints, or writes, all scalars of all event files in their order of wall time: a list of {"wall_time", "step", tag: value...}. Both checksums
of every record are compared; a record that a killed process has left in part ends its file, as TensorBoard has it. Field numbers
are those of TensorFlow's event.proto and summary.proto.
"""
import glob
import json
import os
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def checksum(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The whole TFRecords at the beginning of `data`. A wrong checksum is a ValueError."""
    at = 0
    while at + 12 <= len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        if crc != checksum(data[at:at + 8]):
            raise ValueError(f"byte {at}: the length's checksum is wrong")
        if at + 16 + length > len(data):
            return
        body = data[at + 12:at + 12 + length]
        if struct.unpack_from("<I", data, at + 12 + length)[0] != checksum(body):
            raise ValueError(f"byte {at}: the record's checksum is wrong")
        yield body
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Pairs of field number and value of a protocol buffer: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def scalars(data):
    for record in records(data):
        event = dict(fields(record))
        if 5 not in event:
            continue
        row = {"wall_time": struct.unpack("<d", event[1])[0], "step": event.get(2, 0)}
        for number, value in fields(event[5]):
            if number == 1:
                one = dict(fields(value))
                row[one[1].decode()] = struct.unpack("<f", one[2])[0]
        yield row


def read(folder):
    rows = []
    for path in glob.glob(os.path.join(folder, "*tfevents*")):
        with open(path, "rb") as f:
            rows += scalars(f.read())
    return sorted(rows, key=lambda row: row["wall_time"])


if __name__ == "__main__":
    text = json.dumps(read(sys.argv[1]), indent=1)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as out:
            out.write(text + "\n")
    else:
        print(text)
