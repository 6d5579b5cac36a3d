"""prox"""
