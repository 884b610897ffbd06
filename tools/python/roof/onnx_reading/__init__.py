"""ONNX files that are only estimated, read by the package onnx: `network.read` gives their operators."""
